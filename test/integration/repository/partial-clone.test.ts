import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const writer = defineTeam("writer", {
  phases: [
    phase("write", {
      personas: [
        persona("author", {
          run: async ({ workspace }) => {
            await workspace.write("made.txt", "made\n");
            return { summary: "made a file" };
          },
        }),
      ],
    }),
  ],
});

/** A clone without the contents that are not checked out: of a.txt as it was before. */
function partialClone(): { readonly clone: string; readonly old: string } {
  const origin = new TestRepository().write("a.txt", "old\n");
  const old = origin.commit();
  origin.write("a.txt", "new\n").commit("next");
  origin.git("config", "uploadpack.allowFilter", "true");
  const folder = mkdtempSync(join(tmpdir(), "maestro-partial-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clone = join(folder, "clone");
  execFileSync("git", ["clone", "--quiet", "--filter=blob:none", `file://${origin.folder}`, clone]);
  return { clone, old };
}

test("a partial clone works with what is checked out, and delivers a branch", async () => {
  const { clone } = partialClone();
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(writer, { brief: "x", source: { git: clone } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  await maestro.branch(session.id, { branch: "out" });
  const changed = execFileSync("git", ["-C", clone, "diff", "--name-status", "main", "out"]);
  expect(changed.toString()).toBe("A\tmade.txt\n");
});

test("a commit whose files a partial clone lacks is refused, with the command that fetches them", async () => {
  const { clone, old } = partialClone();
  const maestro = await new TeamPlace().open();
  await expect(maestro.start(writer, { brief: "x", source: { git: clone, ref: old } })).rejects.toMatchObject(
    {
      code: "INPUT_INVALID",
      message: expect.stringContaining("lacks the object"),
      advice: expect.stringContaining("git fetch --refetch --no-filter"),
    },
  );
  expect(await maestro.sessions()).toEqual([]);
});

test("a git that does not know GIT_NO_LAZY_FETCH starts no program that a repository names for missing objects", async () => {
  const { clone, old } = partialClone();
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const bin = join(clone, "..", "bin");
  execFileSync("mkdir", [bin]);
  writeFileSync(join(bin, "git"), `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec ${git} "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const trap = join(clone, ".git", "trap");
  const set = (key: string, value: string) => execFileSync(git, ["-C", clone, "config", key, value]);
  set("remote.origin.uploadpack", `touch ${trap}; false`);
  set("protocol.allow", "always");
  expect(() => execFileSync(git, ["-C", clone, "cat-file", "-p", `${old}:a.txt`], { stdio: "pipe" })).toThrow(
    "cat-file",
  );
  expect(existsSync(trap), "plain git starts the program").toBe(true);
  rmSync(trap);

  vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const address of [undefined, `ext::touch ${trap}`]) {
    if (address !== undefined) set("remote.origin.url", address);
    set("protocol.ext.allow", "always");
    const maestro = await new TeamPlace().open();
    const start = { brief: "x", source: { git: clone, ref: old } };
    await expect(maestro.start(writer, start)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(existsSync(trap)).toBe(false);
  }
});
