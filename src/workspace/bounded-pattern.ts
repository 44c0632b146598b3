import type { Context, Script } from "node:vm";

/** The time is generous: it is measured by the clock, and a busy machine may pause the process. */
export const patternLimits = { maxPatternLength: 500, maxTextLength: 1_000_000, timeoutMs: 1_000 } as const;

let matcher:
  | { readonly script: Script; readonly context: Context & { pattern?: string; texts?: readonly string[] } }
  | undefined;

/**
 * Whether each text matches; undefined when that takes too long to decide. A harmless-looking pattern can run for years on
 * some text, so it runs in a context that can be interrupted. All texts share one run: an interruptible run is expensive.
 */
export function matchPattern(pattern: string, texts: readonly string[]): readonly boolean[] | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (pattern.length > patternLimits.maxPatternLength || length > patternLimits.maxTextLength)
    return undefined;
  matcher ??= makeMatcher();
  Object.assign(matcher.context, { pattern, texts });
  try {
    const found: unknown = matcher.script.runInContext(matcher.context, { timeout: patternLimits.timeoutMs });
    return Array.from(String(found), (mark) => mark === "1");
  } catch {
    return undefined;
  }
}

export function patternProblem(pattern: string): string | undefined {
  const { maxPatternLength } = patternLimits;
  if (pattern.length > maxPatternLength) return `must have at most ${maxPatternLength} characters`;
  try {
    void new RegExp(pattern, "u");
    return undefined;
  } catch {
    return "must be a regular expression as JavaScript reads it with the u flag";
  }
}

function makeMatcher(): NonNullable<typeof matcher> {
  const vm = process.getBuiltinModule("node:vm");
  const code =
    "{ const form = new RegExp(pattern, 'u'); let found = ''; for (const text of texts) found += form.test(text) ? 1 : 0; found }";
  return { script: new vm.Script(code), context: vm.createContext(Object.create(null) as object) };
}
