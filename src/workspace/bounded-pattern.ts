import type { Context, Script } from "node:vm";

export const patternLimits = { maxPatternLength: 500, maxTextLength: 100_000, timeoutMs: 100 } as const;

/** Undefined: it would take too long to tell. */
export type PatternAnswer = boolean | undefined;

let matcher:
  | { readonly script: Script; readonly context: Context & { pattern?: string; text?: string } }
  | undefined;

/** A pattern that looks harmless may need ages for some text, so it runs where it can be interrupted. */
export function matchesPattern(pattern: string, text: string): PatternAnswer {
  if (pattern.length > patternLimits.maxPatternLength || text.length > patternLimits.maxTextLength)
    return undefined;
  matcher ??= makeMatcher();
  Object.assign(matcher.context, { pattern, text });
  try {
    return matcher.script.runInContext(matcher.context, { timeout: patternLimits.timeoutMs }) === true;
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
  return {
    script: new vm.Script("new RegExp(pattern, 'u').test(text)"),
    context: vm.createContext(Object.create(null) as object),
  };
}
