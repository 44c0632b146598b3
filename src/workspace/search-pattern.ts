import { InputInvalid } from "../domain/errors.ts";
import { PatternMachine } from "./pattern/machine.ts";
import { parseRegularExpression } from "./pattern/regular-expression.ts";

const maxLength = 1000;

export interface SearchPattern {
  /** A quick look that may be wrong only when it says yes. */
  mayBeIn(text: string): boolean;
  /** Where a match in the line ends, or -1. */
  endIn(line: string): number;
}

/** Plain text, or a regular expression when it is written /like this/ or /like this/i. */
export function searchPattern(pattern: string): SearchPattern {
  if (pattern === "") throw refused("is empty", "Give the text to look for.");
  if (pattern.length > maxLength) throw refused(`is longer than ${maxLength} characters`, "Look for less.");
  // A slash inside has to be escaped, so that a path such as /usr/bin/ stays plain text.
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

function regular(source: string, flags: string): SearchPattern {
  // Other programs write the flag so.
  const inline = source.startsWith("(?i)");
  const expression = parseRegularExpression(inline ? source.slice(4) : source, {
    ignoreCase: inline || flags.includes("i"),
  });
  const machine = new PatternMachine(expression);
  return { mayBeIn: () => true, endIn: (line) => machine.endOfMatch(line) };
}

const refused = (why: string, advice: string): InputInvalid =>
  new InputInvalid(`The pattern ${why}.`, { advice });
