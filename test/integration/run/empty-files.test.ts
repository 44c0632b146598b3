import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { judge } from "../../../src/domain/contract.ts";
import { readTests } from "../../../src/run/failure/read-tests.ts";
import { builtInTeam } from "../../../src/team/built-in.ts";
import { runChecks } from "../../../src/workspace/checks.ts";
import { MemoryBlobs } from "../../unit/workspace/counted-blobs.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const { definition } = await builtInTeam();
const personas = new Map(
  definition.phases.flatMap(({ personas: members }) => members.map((member) => [member.name, member])),
);

/** One file for each glob of the persona, all with this content. */
const fileFor = (glob: string): string =>
  glob.endsWith("/**") ? `${glob.slice(0, -2)}${glob.startsWith("test") ? "a.test.mjs" : "a.mjs"}` : glob;

async function verdictOn(name: string, content: (path: string) => string) {
  const contract = personas.get(name)?.contract;
  if (contract === undefined) throw new Error(`there is no ${name}`);
  const blobs = new MemoryBlobs();
  const paths = contract.deliverables.flatMap(({ files }) => files.map(fileFor));
  const tree = blobs.tree(Object.fromEntries(paths.map((path) => [path, content(path)])));
  const scratch = join(temporaryDirectory(), "scratch");
  const signal = new AbortController().signal;
  const results = await runChecks({ contract, tree, outputs: undefined, blobs, scratch, signal, readTests });
  return judge(results, undefined).verdict;
}

describe("no persona of the built-in team passes with", () => {
  describe.each([
    ["empty files", () => ""],
    ["blank files", () => "\n\n"],
    ["placeholders", (path: string) => (path.endsWith(".md") ? "# TODO\n\nTBD\n" : "// TODO\n")],
  ])("%s", (_, content) => {
    // Code for a browser is judged by its gate.
    test.each([...personas.keys()].filter((name) => name !== "frontend_developer"))("%s", async (name) => {
      expect(await verdictOn(name, content)).toBe("failed");
    });
  });
});

test("written files pass", async () => {
  const content = (path: string) =>
    path.endsWith(".md")
      ? "# R1 Parking\n\n## Goal\n\nPeople find a place to park.\n"
      : 'import test from "node:test";\ntest("R1 holds", () => {});\n';
  for (const name of personas.keys())
    expect([name, await verdictOn(name, content)]).toEqual([name, "passed"]);
});
