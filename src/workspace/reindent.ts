/** How deep a line was written, and how deep the file has it. */
export interface IndentPair {
  readonly written: string;
  readonly found: string;
}

/** Moves lines that were written at one depth to where the file has their neighbors. */
export function reindent(lines: readonly string[], pairs: readonly IndentPair[]): string[] {
  if (pairs.every(({ written, found }) => written === found)) return [...lines];
  const known = new Map<string, string>();
  for (const { written, found } of pairs) if (!known.has(written)) known.set(written, found);
  const scale = scaleOf(pairs, lines);
  return lines.map((line) => {
    const bare = line.trimStart();
    if (bare === "") return "";
    return movedIndent(indentOf(line), known, scale) + bare;
  });
}

export const indentOf = (line: string): string => line.slice(0, line.length - line.trimStart().length);

interface Scale {
  /** The indentation of the file. */
  readonly character: " " | "\t";
  /** How many of them for one character as it was written. */
  readonly ratio: number;
}

function movedIndent(indent: string, known: ReadonlyMap<string, string>, scale: Scale): string {
  const same = known.get(indent);
  if (same !== undefined) return same;
  const moved = (extra: number): string => scale.character.repeat(Math.round(extra * scale.ratio));
  const byLength = [...known].sort(([a], [b]) => a.length - b.length);
  const outer = byLength.findLast(([written]) => indent.startsWith(written));
  if (outer !== undefined) return outer[1] + moved(indent.length - outer[0].length);
  // Less deep than anything that was written to be found.
  const inner = byLength.find(([written]) => written.startsWith(indent));
  if (inner === undefined) return byLength[0]?.[1] ?? indent;
  const less = moved(inner[0].length - indent.length).length;
  return inner[1].slice(0, Math.max(0, inner[1].length - less));
}

function scaleOf(pairs: readonly IndentPair[], lines: readonly string[]): Scale {
  const found = pairs.map((pair) => pair.found);
  const written = [...pairs.map((pair) => pair.written), ...lines.map(indentOf)];
  const character = styleOf(found) ?? styleOf(written) ?? " ";
  return { character, ratio: measuredRatio(pairs) ?? guessedRatio(character, written, found) };
}

/** Two lines at different depths show how far apart the file has them. */
function measuredRatio(pairs: readonly IndentPair[]): number | undefined {
  const [first] = pairs;
  if (first === undefined) return undefined;
  for (const { written, found } of pairs) {
    const writtenStep = written.length - first.written.length;
    const foundStep = found.length - first.found.length;
    if (writtenStep !== 0 && foundStep / writtenStep > 0) return foundStep / writtenStep;
  }
  return undefined;
}

function guessedRatio(character: " " | "\t", written: readonly string[], found: readonly string[]): number {
  const style = styleOf(written) ?? character;
  if (style === character) return 1;
  return character === "\t" ? 1 / stepOf(written) : stepOf(found);
}

const styleOf = (indents: readonly string[]): " " | "\t" | undefined => {
  const indent = indents.find((each) => each !== "");
  return indent === undefined ? undefined : indent.startsWith("\t") ? "\t" : " ";
};

/** The smallest step between two depths. */
function stepOf(indents: readonly string[]): number {
  const depths = [...new Set([0, ...indents.map(({ length }) => length)])].sort((a, b) => a - b);
  const steps = depths.slice(1).map((depth, index) => depth - (depths[index] ?? 0));
  return steps.length === 0 ? 4 : Math.min(...steps);
}
