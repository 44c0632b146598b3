import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { adviseEdit } from "../src/workspace/write-guard.ts";
import { packages } from "./edits/packages.ts";
import { fetchVersions, readVersion } from "./edits/published-files.ts";
import { smallestEdits } from "./edits/smallest-edit.ts";
import { median } from "./statistics.ts";
import { formatTable } from "./table.ts";

// Output tokens that a model needs to change a file: by edits, or by writing it again. Measured on real changes between
// consecutive published versions. The arguments of a tool call count as JSON.

const bytesPerToken = 4;
const leastChanges = 200;

interface Change {
  readonly package: string;
  readonly version: string;
  readonly path: string;
  readonly rewriteTokens: number;
  /** Null: the tool would refuse every edit, so the file is written again. */
  readonly editTokens: number | null;
  readonly edits: number;
  /** Whether `write_file` would have been refused with the advice to edit. */
  readonly guarded: boolean;
}

const cache = fileURLToPath(new URL(".data/edits/", import.meta.url));
mkdirSync(cache, { recursive: true });
const changes: Change[] = [];
for (const [name, versions] of Object.entries(packages)) {
  process.stderr.write(`${name} ...`);
  await fetchVersions(cache, name, versions);
  const found = versions
    .slice(1)
    .flatMap((version, index) => changesOf(name, versions[index] ?? "", version));
  process.stderr.write(` ${found.length} changes\n`);
  changes.push(...found);
}
if (changes.length < leastChanges)
  throw new Error(`only ${changes.length} changes were found; ${leastChanges} are needed to say anything`);

const summary = summarize(changes);
writeFileSync(
  new URL("edits-results.json", import.meta.url),
  `${JSON.stringify({ bytesPerToken, packages, summary, changes }, null, 2)}\n`,
);
print();

function changesOf(name: string, older: string, version: string): Change[] {
  const before = readVersion(cache, name, older);
  const after = readVersion(cache, name, version);
  return [...after].flatMap(([path, content]) => {
    const old = before.get(path);
    if (old === undefined || old === content) return [];
    const edits = smallestEdits(old, content);
    return {
      package: name,
      version,
      path,
      rewriteTokens: tokensOf({ path, content }),
      editTokens: edits === undefined ? null : tokensOf({ path, edits }),
      edits: edits?.length ?? 0,
      guarded: adviseEdit(old, content) !== undefined,
    };
  });
}

function tokensOf(toolArguments: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(toolArguments)) / bytesPerToken);
}

function summarize(all: readonly Change[]) {
  const sum = (tokens: (change: Change) => number) =>
    all.reduce((total, change) => total + tokens(change), 0);
  const wins = all.filter(isWin);
  const rewriteTokens = sum((change) => change.rewriteTokens);
  const bestTokens = sum((change) => Math.min(change.editTokens ?? Infinity, change.rewriteTokens));
  return {
    changes: all.length,
    rewriteTokens,
    /** Every change as edits; written again only where there are none. */
    editTokens: sum((change) => change.editTokens ?? change.rewriteTokens),
    /** Whichever is smaller. */
    bestTokens,
    saved: 1 - bestTokens / rewriteTokens,
    medianSaving: median(
      all.map((change) => 1 - (change.editTokens ?? change.rewriteTokens) / change.rewriteTokens),
    ),
    wins: wins.length / all.length,
    guarded: all.filter(({ guarded }) => guarded).length / all.length,
    /** `write_file` was refused although no edit is smaller. */
    guardedWrongly: all.filter((change) => change.guarded && !isWin(change)).length,
    withoutEdit: all.filter(({ editTokens }) => editTokens === null).length,
  };
}

function isWin({ editTokens, rewriteTokens }: Change): boolean {
  return editTokens !== null && editTokens < rewriteTokens;
}

function print(): void {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const line = (name: string, all: readonly Change[]) => {
    const { changes: count, rewriteTokens, editTokens, saved, medianSaving, wins } = summarize(all);
    const numbers = [count, rewriteTokens, editTokens].map((number) => number.toLocaleString("en-US"));
    return [name, ...numbers, percent(saved), percent(medianSaving), percent(wins)];
  };
  const lines = Object.keys(packages).map((name) =>
    line(
      name,
      changes.filter((change) => change.package === name),
    ),
  );
  const headings = [
    "package",
    "changes",
    "rewrite tokens",
    "edit tokens",
    "saved",
    "median saving",
    "edit wins",
  ];
  process.stdout.write(`${formatTable(headings, [...lines, line("all", changes)])}\n\n`);
  const { guarded, guardedWrongly, withoutEdit } = summary;
  process.stdout.write(
    [
      `Output tokens are counted as bytes of the tool call's JSON / ${bytesPerToken}. Every edit was really applied and gave the`,
      "published file. Generated files (dist, minified, package.json) are left out: no model writes them.",
      `"saved" is of the smaller of both. write_file refuses ${percent(guarded)} of the changes with the advice to edit,`,
      `${guardedWrongly} of them although no edit takes less. ${withoutEdit} changes have no edit that the tool takes.`,
      "",
    ].join("\n"),
  );
}
