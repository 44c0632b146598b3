import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import type { ModelTurn } from "../../support/loopback-model-turn.ts";
import { calls, ModelHive } from "../../support/model-hive.ts";
import type { Reply } from "../../support/paid-models.ts";
import { TestRepository } from "./test-repository.ts";

const model = "openai-compatible/llama";

/** In its first attempt a persona makes these calls in order, one in each answer; then it submits. */
const scripted =
  (scripts: Readonly<Record<string, readonly ModelTurn[]>>): Reply =>
  ({ persona, attempt, answersBefore }) =>
    (attempt === 1 ? scripts[persona]?.[answersBefore] : undefined) ??
    calls("submit", { summary: `${persona} is done` });

/** All that the model was sent. */
const sent = ({ models }: ModelHive): readonly string[] => models.server.requests.map(({ text }) => text);

const team = (names: readonly string[], more: object = {}) =>
  defineTeam("tidy", {
    model,
    phases: [
      phase("work", {
        personas: names.map((name) => persona(name, { instructions: "Tidy up." })),
      }),
    ],
    ...more,
  });

function repository(): TestRepository {
  const made = new TestRepository()
    .write("old.txt", "old\n")
    .write("bin/tool", "#!/bin/sh\necho tool\n", 0o755)
    .write("aux.c", "int x;\n")
    .write("keep.txt", "keep\n")
    .write("test/a.test.mjs", "test\n");
  made.commit();
  return made;
}

describe("a model that deletes and moves files", () => {
  const tidy = scripted({
    dev: [
      calls("delete_file", { path: "old.txt" }),
      calls("delete_file", { path: "aux.c" }),
      calls("move_file", { from: "bin/tool", to: "tools/run" }),
      calls("list_files", {}),
    ],
  });

  test("delivers exactly that as diff, branch and applied files", async () => {
    const source = repository();
    const hive = await ModelHive.open(tidy);
    const { result } = await hive.run(team(["dev"]), { source: { git: source.folder } });
    expect(result).toMatchObject({ status: "completed" });
    expect(sent(hive).at(-1)).toContain("keep.txt\\ntest/a.test.mjs\\ntools/run");
    const diff = (await hive.maestro.diff(result.id)).toString();
    expect(diff).toContain("deleted file mode 100644");
    expect(diff).toContain("rename from bin/tool\nrename to tools/run");
    await hive.maestro.branch(result.id, { branch: "tidy" });
    expect(source.git("diff", "--name-status", "--find-renames", "main", "tidy").split("\n")).toEqual([
      "D\taux.c",
      "D\told.txt",
      "R100\tbin/tool\ttools/run",
    ]);
    expect(source.git("ls-tree", "tidy", "tools/run")).toMatch(/^100755 /);
    expect(source.git("status", "--porcelain")).toBe("");
    await hive.maestro.apply(result.id);
    expect(existsSync(source.path("old.txt"))).toBe(false);
    expect(existsSync(source.path("bin"))).toBe(false);
    execFileSync(source.path("tools/run").toString());
    source.git("add", "--all");
    expect(source.git("write-tree")).toBe(source.git("rev-parse", "tidy^{tree}"));
  });

  test("finds the files as it left them when a failed call interrupts it, and no call is made again", async () => {
    const source = repository();
    let isDown = true;
    const hive = await ModelHive.open((asked, earlier) => {
      if (!isDown || asked.answersBefore !== 3) return tidy(asked, earlier);
      isDown = false;
      return { fault: "reset" };
    });
    const { result } = await hive.run(team(["dev"]), { source: { git: source.folder } });
    expect(result).toMatchObject({ status: "completed" });
    const { commits } = await hive.maestro.branch(result.id, { branch: "tidy" });
    expect(commits).toHaveLength(1);
    expect(source.git("ls-tree", "-r", "--name-only", "tidy").split("\n")).toEqual([
      "keep.txt",
      "test/a.test.mjs",
      "tools/run",
    ]);
  });

  test("may not delete or move a file that the team protects", async () => {
    const source = repository();
    const hive = await ModelHive.open(
      scripted({
        dev: [
          calls("delete_file", { path: "test/a.test.mjs" }),
          calls("move_file", { from: "test/a.test.mjs", to: "gone.mjs" }),
        ],
      }),
    );
    const { result } = await hive.run(team(["dev"], { protect: ["test/**"] }), {
      source: { git: source.folder },
    });
    const refusals = sent(hive).at(-1)?.split("test/a.test.mjs was not changed: it matches");
    expect(refusals).toHaveLength(3);
    expect((await hive.maestro.diff(result.id)).toString()).toBe("");
  });
});

test("a file that one persona deletes and another edits is a conflict that the later one is shown", async () => {
  const source = repository();
  const hive = await ModelHive.open(
    scripted({
      remover: [calls("delete_file", { path: "keep.txt" })],
      editor: [calls("edit_file", { path: "keep.txt", edits: [{ find: "keep", replace: "kept" }] })],
    }),
  );
  const { result, view } = await hive.run(team(["remover", "editor"]), {
    source: { git: source.folder },
  });
  expect(result).toMatchObject({ status: "completed" });
  const attempts = view.phases[0]?.personas[1]?.attempts ?? [];
  expect(attempts).toHaveLength(2);
  expect(sent(hive).at(-1)).toContain("remover removed it, and editor changed it");
  await hive.maestro.apply(result.id);
  expect(existsSync(source.path("keep.txt"))).toBe(false);
  expect(readFileSync(source.path("old.txt"), "utf8")).toBe("old\n");
});
