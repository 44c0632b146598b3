import type { HelpConfiguration } from "commander";
import { wrap } from "../terminal/width.ts";

const indent = 2;
const gap = 2;
/** With less room than this, the description goes below the term. */
const leastBeside = 30;

/** Wraps help between words at any width; Commander does not wrap below forty columns. */
export const helpThatFits: HelpConfiguration = {
  minWidthToWrap: 1,
  styleUsage(usage) {
    return wrap(usage, (this.helpWidth ?? 80) - "Usage: ".length).join("\n       ");
  },
  // Options are listed in the command's own help.
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((argument) =>
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      ),
    ].join(" "),
  formatItem(term, termWidth, description, helper) {
    const columns = helper.helpWidth ?? 80;
    const beside = columns - indent - termWidth - gap;
    const isBeside = beside >= leastBeside;
    const left = isBeside ? indent + termWidth + gap : 2 * indent;
    const lines = wrap(description, columns - left);
    const head = " ".repeat(indent) + term;
    if (lines.length === 0) return head;
    const [first = "", ...rest] = isBeside ? lines : ["", ...lines];
    return [isBeside ? head.padEnd(left) + first : head, ...rest.map((line) => " ".repeat(left) + line)].join(
      "\n",
    );
  },
};
