import type { RE2JS } from "re2js";
import { InputInvalid } from "../domain/errors.ts";

const maxLength = 1000;

export interface SearchPattern {
  /** A quick test of a whole file that may be wrong only when it says yes. */
  mayBeIn(text: string): boolean;
  /** The end of a match in the line, or -1. */
  endIn(line: string): number;
}

/** Plain text, or a regular expression when it is written /like this/ or /like this/i. */
export async function searchPattern(pattern: string): Promise<SearchPattern> {
  if (pattern === "") throw refused("is empty", "Give the text to look for.");
  if (pattern.length > maxLength) throw refused(`is longer than ${maxLength} characters`, "Look for less.");
  // A slash inside must be escaped, so that a path such as /usr/bin/ stays plain text.
  const expression = /^\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/([dgimsuvy]*)$/.exec(pattern);
  return expression === null ? plain(pattern) : regular(expression[1] ?? "", expression[2] ?? "");
}

function plain(text: string): SearchPattern {
  if (/[\r\n]/.test(text))
    throw refused("spans lines", "Lines are searched one by one: look for one of them.");
  return {
    mayBeIn: (whole) => whole.includes(text),
    endIn: (line) => {
      const start = line.indexOf(text);
      return start === -1 ? -1 : start + text.length;
    },
  };
}

/** RE2 matches in time proportional to the text, so no pattern of a model can stall the process. */
async function regular(source: string, flags: string): Promise<SearchPattern> {
  const expression = await compile(source, flags.includes("i"));
  return {
    mayBeIn: () => true,
    endIn: (line) => {
      // Most lines do not match, and a test is several times faster than a matcher.
      if (!expression.test(line)) return -1;
      const matcher = expression.matcher(line);
      return matcher.find() ? matcher.end() : -1;
    },
  };
}

/** Loads the engine on first use: most searches are for plain text. */
async function compile(source: string, ignoreCase: boolean): Promise<RE2JS> {
  const { RE2JS, RE2JSException } = await import("re2js");
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new InputInvalid(`The regular expression is refused: ${error.message}.`, {
      cause: error,
      advice:
        "Write it in RE2 syntax, which has no look-around and no back-references, or look for plain text.",
    });
  }
}

const refused = (why: string, advice: string): InputInvalid =>
  new InputInvalid(`The pattern ${why}.`, { advice });
