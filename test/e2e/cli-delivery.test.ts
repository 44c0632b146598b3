import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestRepository } from "../integration/repository/test-repository.ts";
import { maestro, place } from "./support/packed.ts";

const team = `
name: worker
phases: [{ name: change, personas: [author] }]
personas:
  author:
    instructions: Change the file.
    tools: [write_file]
`;

/** A person's folder with a team whose model writes `a.txt`, and a repository that has that file. */
function atWork(content = "changed\n") {
  const at = place({ MAESTRO_SIMULATED_SCRIPT: "script.json" });
  const calls = [{ tool: "write_file", input: { path: "a.txt", content } }];
  writeFileSync(join(at.folder, "script.json"), JSON.stringify({ personas: { author: [[{ calls }]] } }));
  writeFileSync(join(at.folder, "team.yaml"), team);
  const repository = new TestRepository().write("a.txt", "old\n");
  repository.commit();
  const run = (source = repository.folder) =>
    [
      "run",
      "Change it",
      "--repo",
      source,
      "--team",
      "team.yaml",
      "--model",
      "simulated",
      "--key",
      "k",
    ] as const;
  return { at, repository, run };
}

const read = (repository: TestRepository, name: string) => readFileSync(repository.path(name), "utf8");

test("files for a checkout with other changes are a conflict: exit 3, and nothing is written or put beside", async () => {
  const { at, repository, run } = atWork();
  expect(await maestro(at, ...run())).toMatchObject({ code: 0 });
  repository.write("a.txt", "mine\n");
  const shown = await maestro(at, "show", "k", "--out", repository.folder);
  expect(shown).toMatchObject({ code: 3 });
  expect(shown.stderr).toContain("Conflict:");
  expect(shown.stderr).toContain(`Nothing was written to ${repository.folder}`);
  const again = await maestro(at, "resume", "k", "--out", repository.folder);
  expect(again, again.stderr).toMatchObject({ code: 3 });
  expect(read(repository, "a.txt")).toBe("mine\n");
  repository.write("a.txt", "old\n");
  expect(await maestro(at, "show", "k", "--out", repository.folder)).toMatchObject({ code: 0 });
  expect(read(repository, "a.txt")).toBe("changed\n");
  expect(existsSync(repository.path("a.txt.maestro-new"))).toBe(false);
});

test("a run that orders no delivery says how to look at its changes, and how to get them", async () => {
  const { at, repository, run } = atWork();
  const ran = await maestro(at, ...run());
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stderr).toContain(
    [
      "It changed 1 file. Look at the changes: maestro diff k",
      "Make a branch of them: maestro branch k maestro/k",
      "Or bring them into your files: maestro apply k\n",
    ].join("\n"),
  );
  const other = atWork();
  const fetched = await maestro(other.at, ...other.run(`file://${repository.folder}`));
  expect(fetched.stderr).toContain("Make a branch of them: maestro branch k maestro/k\n");
  expect(fetched.stderr).not.toContain("maestro apply");
});

test("apply to another folder prints the command that repeats it there", async () => {
  const { at, repository, run } = atWork();
  expect(await maestro(at, ...run())).toMatchObject({ code: 0 });
  const clone = join(at.folder, "a clone");
  repository.git("clone", "--quiet", repository.folder, clone);
  writeFileSync(join(clone, "a.txt"), "mine\n");
  const refused = await maestro(at, "apply", "k", "--to", "a clone");
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain("maestro apply k --to 'a clone' --force");
  const forced = await maestro(at, "apply", "k", "--to", "a clone", "--force");
  expect(forced).toMatchObject({ code: 3 });
  expect(forced.stderr).toContain(`file written in ${clone}.`);
  expect(readFileSync(join(clone, "a.txt"), "utf8")).toContain("<<<<<<< yours\nmine\n");
  expect(read(repository, "a.txt")).toBe("old\n");
});

test("the command that shows a branch names the folder that has it, also that of a fetched repository", async () => {
  const { at, repository, run } = atWork();
  const ran = await maestro(at, ...run(`file://${repository.folder}`), "--branch", "work");
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const shown = await maestro(at, "show", "k");
  const again = await maestro(at, "branch", "k", "work");
  for (const output of [ran.stderr, shown.stdout, again.stderr]) {
    const [, command = ""] = /Branch work has 1 commit. Look at it:\n +(git .+)/.exec(output) ?? [];
    const log = execFileSync("sh", ["-c", `${command} --format=%s`], { cwd: at.folder, encoding: "utf8" });
    expect(log).toMatch(/^change: [^]*\nstart\n$/);
  }
  const clone = join(at.folder, "clone");
  repository.git("clone", "--quiet", repository.folder, clone);
  const there = await maestro(at, "branch", "k", "work", "--repo", "clone");
  expect(there.stderr).toContain(`git -C ${clone} log work`);
});
