import { canonicalJson } from "../../domain/canonical.ts";
import type { ToolArguments } from "./tool-call.ts";

/** Whether a person has to approve a call. `title`: the tool as team files name it. */
export type MustAsk = (title: string, args: ToolArguments) => boolean;

/** Lines beyond this are not taken apart: a person looks at each. */
const longestLine = 16 * 1024;

/**
 * `tool` or `tool:what`, with `*` for any text: "run_command:git push*", "github/create_*". `what` is compared with each command
 * of a shell line, or with the arguments as JSON. It stops a model that means well and makes no wall: a program may run any other.
 */
export function mustAsk(rules: readonly string[]): MustAsk {
  const asked = rules.map((rule) => {
    const { tool, what } = parseRule(rule);
    return { isTool: wildcard(tool), what: what === undefined ? undefined : compare(what) };
  });
  return (title, args) => asked.some(({ isTool, what }) => isTool(title) && (what?.(args) ?? true));
}

export function parseRule(rule: string): { readonly tool: string; readonly what: string | undefined } {
  const [tool = "", ...what] = rule.split(":");
  return { tool: tool.trim(), what: what.length === 0 ? undefined : what.join(":") };
}

function compare(what: string): (args: ToolArguments) => boolean {
  const pattern = spaced(what);
  const whole = wildcard(pattern);
  const bare = withoutQuotes(pattern);
  const [matches, [head = ""]] = [wildcard(bare), bare.split("*", 1)];
  return (args) => {
    const line = lineOf(args);
    if (line === undefined) return whole(canonicalJson(args));
    if (line.length > longestLine || whole(spaced(line))) return true;
    // Most words do not even begin as the pattern does.
    return commandsIn(line).some((command) =>
      endsOf(command).some((end) => end.startsWith(head) && matches(end)),
    );
  };
}

function lineOf({ command, argv }: ToolArguments): string | undefined {
  if (typeof command === "string") return command;
  return Array.isArray(argv) ? argv.join(" ") : undefined;
}

/** The commands of a shell line, with single spaces and without quotes: `sh -c "git  push"` has `git push`. */
const commandsIn = (line: string): readonly string[] =>
  line
    .replaceAll(/\\\r?\n/g, " ")
    .split(/[;&|\n\r`(){}]+/)
    .map((part) => spaced(withoutQuotes(part)));

/** From each word on, with and without its folder: `sudo git push` and `CI=1 /usr/bin/git push` are `git push` too. */
function endsOf(command: string): readonly string[] {
  const ends: string[] = [];
  for (let at = 0; at < command.length; ) {
    const space = command.indexOf(" ", at);
    const wordEnd = space === -1 ? command.length : space;
    const program = command.lastIndexOf("/", wordEnd - 1) + 1;
    ends.push(command.slice(at));
    if (program > at) ends.push(command.slice(program));
    at = wordEnd + 1;
  }
  return ends;
}

const withoutQuotes = (text: string): string => text.replaceAll(/["'\\]/g, "");

const spaced = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** `*` is any text, also none and with slashes. Takes time in proportion to the text. */
export function wildcard(pattern: string): (text: string) => boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
      return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
