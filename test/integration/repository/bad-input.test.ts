import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { adviceText } from "../../../src/domain/advice.ts";
import { sha256 } from "../../../src/domain/canonical.ts";
import { defineTeam, MaestroError, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const ran: string[] = [];
const author = defineTeam("author", {
  phases: [
    phase("build", {
      personas: [
        persona("author", {
          run: async ({ workspace }) => {
            ran.push(...workspace.list());
            await workspace.write("made.txt", "made");
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});

/** Every file and folder with its bytes, mode and times, also those of .git. */
function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(folder, name);
    const status = lstatSync(path, { bigint: true });
    const content = status.isFile()
      ? sha256(readFileSync(path))
      : status.isSymbolicLink()
        ? readlinkSync(path)
        : "";
    found[name] = `${status.mode} ${status.mtimeNs} ${status.ctimeNs} ${content}`;
  }
  return found;
}

/** Refused, with advice, with nothing stored, nothing run and nothing touched. */
async function refused(folder: string, ref?: string): Promise<string> {
  ran.length = 0;
  const place = new TeamPlace();
  const maestro = await place.open();
  const before = snapshot(folder);
  const source = { git: folder, ...(ref !== undefined && { ref }) };
  const error: unknown = await maestro.start(author, { brief: "x", source }).then(
    () => new Error("accepted"),
    (thrown: unknown) => thrown,
  );
  expect(MaestroError.is(error) && error.exitCode, String(error)).toBe(2);
  expect(MaestroError.is(error) && adviceText(error.actions)).not.toBe("");
  expect(await maestro.sessions()).toEqual([]);
  expect(ran).toEqual([]);
  expect(snapshot(folder)).toEqual(before);
  return (error as Error).message;
}

async function worksOn(folder: string) {
  ran.length = 0;
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(author, { brief: "x", source: { git: folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  return { maestro, id: session.id, source: (await maestro.show(session.id)).source };
}

const simple = (): TestRepository => {
  const repository = new TestRepository().write("a.txt", "a\n");
  repository.commit();
  return repository;
};

test("a whole run leaves every byte and time of the repository as it was, the index included", async () => {
  const repository = simple().write("b.txt", "b\n").link("link", "a.txt");
  repository.commit("more");
  repository.write("a.txt", "not committed\n").write("untracked.txt", "u\n");
  // The index does not know that the file is unchanged: git status would write that down.
  writeFileSync(join(repository.folder, "b.txt"), "b\n");
  const before = snapshot(repository.folder);
  const { maestro, id } = await worksOn(repository.folder);
  await maestro.diff(id);
  expect(snapshot(repository.folder)).toEqual(before);
});

describe("works:", () => {
  test("a shallow clone, whose branch is delivered onto its commit", async () => {
    const repository = simple();
    const commit = repository.write("a.txt", "b\n").commit("second");
    const shallow = join(repository.folder, ".git", "shallow-clone");
    repository.git("clone", "--quiet", "--depth=1", `file://${repository.folder}`, shallow);
    const { maestro, id, source } = await worksOn(shallow);
    expect(source).toMatchObject({ commit });
    await maestro.branch(id, { branch: "out" });
    const log = spawnSync("git", ["-C", shallow, "log", "--format=%s", "out"], { encoding: "utf8" });
    expect(log.stdout).toBe("build: done\nsecond\n");
  });

  test("a linked worktree, with its own files", async () => {
    const repository = simple();
    const other = join(repository.folder, ".git", "linked");
    repository.git("worktree", "add", "--quiet", "-b", "side", other);
    writeFileSync(join(other, "a.txt"), "side\n");
    expect((await worksOn(other)).source).toMatchObject({ ref: "side", dirty: ["a.txt"] });
  });

  test("a repository with another one inside, which is left out", async () => {
    const repository = simple();
    const inner = join(repository.folder, "vendor/lib");
    repository.git("init", "--quiet", inner);
    writeFileSync(join(inner, "secret.txt"), "inner\n");
    spawnSync("git", ["-C", inner, "add", "-A"]);
    spawnSync("git", ["-C", inner, "-c", "user.name=x", "-c", "user.email=x@y.z", "commit", "-qm", "inner"]);
    repository.git("add", "vendor/lib");
    repository.git("commit", "--quiet", "-m", "gitlink");
    const { source } = await worksOn(repository.folder);
    expect(ran).toEqual(["a.txt"]);
    expect(source?.leftOut).toEqual([{ path: "vendor/lib", reason: "it is a submodule" }]);
    expect((await worksOn(inner)).source).toMatchObject({ git: inner });
  });

  test("a link that leads out of the tree: it stays a link, and nothing behind it is read", async () => {
    const outside = mkdtempSync(join(tmpdir(), "maestro-outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    writeFileSync(join(outside, "canary.txt"), "canary-outside");
    const repository = simple().link("out", join(outside, "canary.txt")).link("folder", outside);
    repository.commit("links");
    const { maestro, id } = await worksOn(repository.folder);
    expect(ran).toEqual(["a.txt", "folder", "out"]);
    await maestro.branch(id, { branch: "out-branch" });
    expect(repository.git("ls-tree", "out-branch", "out")).toMatch(/^120000 /);
  });

  test("a tracked folder that was replaced by a link: what is behind the link is not taken for its files", async () => {
    const outside = mkdtempSync(join(tmpdir(), "maestro-outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    writeFileSync(join(outside, "b.txt"), "canary-outside");
    const repository = simple().write("dir/b.txt", "b\n");
    repository.commit("dir");
    rmSync(join(repository.folder, "dir"), { recursive: true });
    symlinkSync(outside, join(repository.folder, "dir"));
    await worksOn(repository.folder);
    expect(ran).toEqual(["a.txt"]);
  });
});

describe("is refused before anything is stored, run, touched or paid:", () => {
  test("a machine without git", async () => {
    const repository = simple();
    vi.stubEnv("PATH", mkdtempSync(join(tmpdir(), "maestro-no-git-")));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await refused(repository.folder)).toBe("git is not installed.");
  });

  test.runIf(process.getuid?.() === 0)("a repository of another user", async () => {
    const repository = simple();
    const all = [repository.folder, join(repository.folder, ".git")];
    for (const path of all) chownSync(path, 65_534, 65_534);
    vi.stubEnv("HOME", mkdtempSync(join(tmpdir(), "maestro-home-")));
    vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await refused(repository.folder)).toMatch(/belongs to another user, and git refuses to read it/);
  });

  test("a file that changes while it is read", async () => {
    const repository = simple().write("big.bin", Buffer.alloc(8 * 1024 * 1024, 1));
    repository.commit("big");
    writeFileSync(join(repository.folder, "big.bin"), Buffer.alloc(8 * 1024 * 1024, 2));
    const append = `const file = require("fs").openSync(${JSON.stringify(join(repository.folder, "big.bin"))}, "a");
      process.stdout.write("ready"); for (;;) require("fs").writeSync(file, "x");`;
    const writer = spawn(process.execPath, ["-e", append]);
    onTestFinished(() => void writer.kill("SIGKILL"));
    await once(writer.stdout, "data");
    const maestro = await new TeamPlace().open();
    const started = await maestro.start(author, { brief: "x", source: { git: repository.folder } }).then(
      () => "accepted",
      (error: Error) => error.message,
    );
    expect(started).toMatch(/"big\.bin" of .* cannot be read: it changed while it was read/);
    expect(await maestro.sessions()).toEqual([]);
  });

  test("more left-out files than a record can name", async () => {
    const repository = simple();
    mkdirSync(join(repository.folder, "keys"));
    for (let number = 0; number <= 1_000; number += 1)
      writeFileSync(join(repository.folder, "keys", `${number}.pem`), "x");
    repository.commit("keys");
    expect(await refused(repository.folder)).toMatch(/1001 files .* would be left out .* limit is 1000/);
  });

  test("a damaged repository", async () => {
    const repository = simple();
    const head = join(repository.folder, ".git/objects", repository.git("rev-parse", "HEAD").slice(0, 2));
    for (const name of readdirSync(head)) {
      chmodSync(join(head, name), 0o644);
      writeFileSync(join(head, name), "damaged");
    }
    expect(statSync(head).isDirectory()).toBe(true);
    expect(await refused(repository.folder)).toMatch(/git|no commit/);
  });
});
