import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../examples/", import.meta.url));

/** What each says when it works; hello.ts is a team without a program. */
const endings: Readonly<Record<string, RegExp>> = {
  "one-persona.ts": /^completed: draft 2, gate passed\n$/,
  "parallel-design.ts": /^completed: one document from two parts and one risk\n[\s\S]*design\.md by editor/,
  "graph.ts": /testing: tester after requirements, backend, frontend \(session completed\)\n$/,
  "review-gate.ts":
    /parked for review: five services\nparked for review: one service\ncompleted: built one service\n$/,
  "start-in-the-middle.ts":
    /^completed: built from # Design\nrequirements: given, design: given, development: work\n$/,
  "fork.ts":
    /^first: api_analyst, backend, frontend, page_analyst\nplan: .*backend runs, frontend reused\nfork: backend\n$/,
};

it("every example has a promise here", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && name !== "hello.ts");
  expect(files.toSorted()).toEqual(Object.keys(endings).toSorted());
});

it.each(Object.entries(endings))("%s runs offline as it stands", async (file, ending) => {
  const { stdout } = await promisify(execFile)(process.execPath, [folder + file], { timeout: 60_000 });
  expect(stdout).toMatch(ending);
});
