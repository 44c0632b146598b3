import { createFailure, type Failure, type FailureCategory } from "../../../domain/failure.ts";
import { type CommandOutput, linesOf, maxFound, type OutputReader, textOf } from "../command-output.ts";

/** eslint with its default formatter. Warnings are failures only where nothing else explains the exit code (`--max-warnings`). */
export const readEslint: OutputReader = (output) => {
  const problems = fromStylish(output);
  if (problems === undefined) return brokenSetup(output);
  const errors = problems.filter(({ warning }) => !warning);
  const shown = errors.length > 0 || output.exitCode === 0 ? errors : problems;
  return shown.slice(0, maxFound).map(toFailure);
};

interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly rule: string | undefined;
  readonly warning: boolean;
}

const problemLine = /^ {1,10}(\d{1,9}):(\d{1,9}) {1,20}(error|warning) {1,10}(.+)$/;

function fromStylish(output: CommandOutput): Problem[] | undefined {
  if (!/^✖ \d+ problems? \(/m.test(textOf(output))) return undefined;
  const problems: Problem[] = [];
  let file = "";
  for (const line of linesOf(output)) {
    const found = problemLine.exec(line);
    if (found === null) {
      if (/^\S/.test(line)) file = line;
      continue;
    }
    const text = (found[4] ?? "").trimEnd();
    // The rule stands last, after at least two spaces; a parsing error has none.
    const gap = text.lastIndexOf("  ");
    problems.push({
      file,
      line: Number(found[1]),
      column: Number(found[2]),
      message: gap === -1 ? text : text.slice(0, gap).trimEnd(),
      rule: gap === -1 ? undefined : text.slice(gap + 2).trim(),
      warning: found[3] === "warning",
    });
  }
  return problems;
}

const toFailure = ({ file, line, column, message, rule, warning }: Problem): Failure =>
  createFailure({
    category: categoryOf(rule, message),
    severity: warning ? "low" : rule === undefined ? undefined : "medium",
    message,
    source: "eslint",
    code: rule,
    file,
    line,
    column,
    suggestedFix: rule === undefined ? undefined : `Satisfy the rule ${rule} at the place named.`,
  });

/** A rule of style or correctness is part of what the project agreed on: CONTRACT. */
function categoryOf(rule: string | undefined, message: string): FailureCategory {
  if (rule === undefined) return message.startsWith("Parsing error") ? "SYNTAX" : "CONTRACT";
  if (/(?:^|\/)no-undef$|\/no-unsafe-/.test(rule)) return "TYPE";
  if (
    /no-unresolved|no-missing-(?:import|require)|no-extraneous|^import(?:-x)?\/(?:named|default|namespace)$/.test(
      rule,
    )
  ) {
    return "IMPORT";
  }
  const structure =
    /no-restricted-(?:imports|modules|paths)|no-cycle|^boundaries\/|no-internal-modules|enforce-module/;
  return structure.test(rule) ? "ARCHITECTURE" : "CONTRACT";
}

function brokenSetup(output: CommandOutput): Failure[] | undefined {
  const text = textOf(output);
  if (!/^ESLint: \d/m.test(text) || !text.includes("Something went wrong")) return undefined;
  const reason = text
    .slice(text.search(/^ESLint: \d.*$/m))
    .split("\n")
    .slice(1)
    .find((line) => line.trim() !== "");
  return [
    createFailure({
      category: "CONTRACT",
      message: reason ?? "eslint cannot run",
      source: "eslint",
      code: "setup",
    }),
  ];
}
