import type { Document, LineCounter, YAMLError } from "yaml";
import { findFaults } from "./node-faults.ts";
import { locateNode } from "./node-places.ts";
import type { PlacedProblem, Position, SourceText } from "./source-text.ts";

/** One mistake often causes further ones after it. */
const maxSyntaxProblems = 3;
const maxUses = 10_000;

export interface ParsedYaml {
  readonly document: Document.Parsed;
  readonly position: (offset: number) => Position;
}

/** Keys are compared here, because the package compares each with each, and a file may have a hundred thousand. */
export async function parseYaml(text: string): Promise<ParsedYaml> {
  const yaml = await import("yaml");
  const lineCounter: LineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
    logLevel: "error",
  });
  const position = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  return { document, position };
}

export async function readYaml(text: string): Promise<SourceText> {
  const broken = (problems: readonly PlacedProblem[], advice?: string): SourceText => ({
    kind: "broken",
    language: "YAML",
    problems: problems.slice(0, maxSyntaxProblems),
    ...(advice !== undefined && { advice }),
  });
  const parsed = await parseYaml(text).catch((error: unknown) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  // The package recurses into nested lists until the stack overflows.
  if (parsed === undefined) return broken([{ sentence: tooDeep }]);
  const { document, position } = parsed;
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    return broken(
      errors
        .slice(0, maxSyntaxProblems)
        .map((error) => ({ sentence: inWords(error), ...position(error.pos[0]) })),
      errors[0]?.code === "BLOCK_AS_IMPLICIT_KEY" ? colonAdvice : undefined,
    );
  }
  if (document.directives.yaml.version !== "1.2") {
    return broken([
      { sentence: "It asks for an old version of YAML; only 1.2 is read.", line: 1, column: 1 },
    ]);
  }
  const faults = await findFaults(document.contents);
  if (faults.length > 0) {
    return broken(faults.map(({ sentence, offset }) => ({ sentence, ...position(offset) })));
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxUses });
    return { kind: "read", value, locate: await locateNode(document, position) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return broken([
      { sentence: `Its aliases of aliases add up to more than ${maxUses} uses of one anchor.` },
    ]);
  }
}

const tooDeep = "It is nested too deeply.";
const colonAdvice = 'Put a text that contains ": " into quotes, or after "|" on lines of its own.';

function inWords({ message, code }: YAMLError): string {
  if (message.includes("call stack")) return tooDeep;
  if (code === "MULTIPLE_DOCS") return "It holds more than one document.";
  return message.endsWith(".") ? message : `${message}.`;
}
