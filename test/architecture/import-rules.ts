import { posix } from "node:path";
import { type Sources, withoutComments } from "./source-files.ts";

/** Top to bottom: a file may import from its own area and from those below. */
const ranks: readonly (readonly string[])[] = [
  ["cli", "server"],
  ["index.ts", "testing"],
  ["api"],
  ["config"],
  ["run"],
  ["team"],
  ["personas"],
  ["workspace"],
  ["cost"],
  ["tickets"],
  ["store"],
  ["network"],
  ["package-files.ts"],
  ["journal"],
  ["domain"],
];

const frontDoors = new Set(["cli", "server"]);
const openToFrontDoors = new Set(["api", "index.ts", "config", "package-files.ts", "journal", "domain"]);
/** Only `maestro serve` and `maestro mcp` may import the server from the command line. */
const serveCommand = {
  from: ["src/cli/commands/serve.ts", "src/cli/commands/mcp.ts"],
  to: "src/server/serve.ts",
};
const mostLines = 400;

const sql = [
  /\bINSERT\s+(?:OR\s+[A-Z]+\s+)?INTO\b/,
  /\bSELECT\b[^;]{1,500}?\bFROM\b/,
  /\bUPDATE\s+\S+\s+SET\b/,
  /\bDELETE\s+FROM\b/,
];

interface Import {
  readonly line: number;
  readonly specifier: string;
}

/** Every rule that the files break, each as a sentence. */
export function brokenRules(sources: Sources): string[] {
  return [...[...sources].flatMap(([file, text]) => brokenBy(file, text, sources)), ...cycles(sources)];
}

function brokenBy(file: string, text: string, sources: Sources): string[] {
  const broken: string[] = [];
  const code = withoutComments(text);
  if (rankOf(areaOf(file)) === -1) {
    broken.push(
      `${file} has no place in the order of layers: add its folder to test/architecture/import-rules.ts.`,
    );
  }
  for (const { line, specifier } of importsOf(code)) {
    const target = targetOf(file, specifier);
    const why = target === undefined ? packageRefused(file, specifier) : fileRefused(file, target, sources);
    if (why !== undefined)
      broken.push(`${file}:${line} imports ${target ?? specifier}, which is not allowed: ${why}.`);
  }
  if (areaOf(file) !== "store") {
    for (const found of sql.map((pattern) => pattern.exec(code)).filter((found) => found !== null)) {
      broken.push(
        `${file}:${lineAt(code, found.index)} contains SQL (${found[0].slice(0, 40)}): only store/ writes SQL.`,
      );
    }
  }
  const lines = text.trimEnd().split("\n").length;
  if (lines > mostLines)
    broken.push(`${file} has ${lines} lines, and ${mostLines} is the limit: split it into two.`);
  return broken;
}

function fileRefused(file: string, target: string, sources: Sources): string | undefined {
  if (!target.endsWith(".ts")) return "a relative import ends in .ts";
  if (!sources.has(target)) return "there is no such file under src/";
  const [from, to] = [areaOf(file), areaOf(target)];
  if (from === to || (serveCommand.from.includes(file) && target === serveCommand.to)) return undefined;
  if (frontDoors.has(from) && !openToFrontDoors.has(to)) {
    return `${from} is a front door and may import only ${[...openToFrontDoors].join(", ")}`;
  }
  return rankOf(to) > rankOf(from) ? undefined : `imports point down only, and ${to} is not below ${from}`;
}

function packageRefused(file: string, specifier: string): string | undefined {
  if (["domain", "journal"].includes(areaOf(file)) && specifier !== "node:crypto") {
    return "domain and journal import no package but node:crypto";
  }
  if (specifier === "node:sqlite" && !file.startsWith("src/store/sqlite/")) {
    return "only store/sqlite/ knows node:sqlite";
  }
  if (specifier === "pg" && !file.startsWith("src/store/postgres/")) {
    return "only store/postgres/ knows pg";
  }
  if (/^(?:ai(?:\/.*)?|@ai-sdk\/.*)$/.test(specifier) && areaOf(file) !== "personas") {
    return "only personas/ knows a provider";
  }
  return undefined;
}

/** Static, re-exporting, side-effect, dynamic and type imports alike; not a text that ends in "import". */
function importsOf(code: string): Import[] {
  const pattern = /(?<!["'])\b(?:from|import|require)\s*\(?\s*(["'])([^"'\n]+)\1/g;
  return [...code.matchAll(pattern)].map((found) => ({
    line: lineAt(code, found.index),
    specifier: found[2] ?? "",
  }));
}

function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  function visit(file: string, trail: readonly string[]): void {
    if (trail.includes(file)) {
      const circle = [...trail.slice(trail.indexOf(file)), file];
      found.push(`${circle.join(" imports ")}: a cycle, in which no file can be understood alone.`);
      return;
    }
    if (finished.has(file)) return;
    for (const { specifier } of importsOf(withoutComments(sources.get(file) ?? ""))) {
      const target = targetOf(file, specifier);
      if (target !== undefined && sources.has(target)) visit(target, [...trail, file]);
    }
    finished.add(file);
  }
  for (const file of sources.keys()) visit(file, []);
  return found;
}

function targetOf(file: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : undefined;
}

/** The folder under src/, or the file itself. */
function areaOf(file: string): string {
  return file.split("/")[1] ?? file;
}

function rankOf(area: string): number {
  return ranks.findIndex((names) => names.includes(area));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
