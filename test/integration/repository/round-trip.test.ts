import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defineTeam, InputInvalid, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const worker = (...phases: readonly (readonly [string, (ctx: PersonaContext) => Promise<void>])[]) =>
  defineTeam("worker", {
    phases: phases.map(([name, work]) =>
      phase(name, {
        personas: [
          persona(`${name}_author`, {
            run: async (ctx) => {
              await work(ctx);
              return { summary: `${name} is done` };
            },
          }),
        ],
      }),
    ),
  });

const idle = worker(["look", async () => undefined]);

/** One of each: modes, links, line ends, empty and binary files, unusual names. */
function everyKind(): TestRepository {
  const repository = new TestRepository();
  repository
    .write("plain.txt", "plain\n")
    .write("run.sh", "#!/bin/sh\n", 0o755)
    .write("empty", "")
    .write("binary.bin", Buffer.from([0, 1, 2, 255, 254, 0]))
    .write("windows.txt", "a\r\nb\r\n")
    .write(".gitattributes", "kept.txt eol=crlf\nbig.dat filter=lfs\n")
    .write("kept.txt", "a\r\nb\r\n")
    .write("big.dat", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    .write("with space/ümlaut ★.txt", "x")
    .write("-dash", "x")
    .write('quote"and\\backslash', "x")
    .write("aux.c", "x")
    .write("deep/a/b/c/d.txt", "x")
    .link("link", "plain.txt")
    .link("folder-link", "deep/a")
    .link("dangling", "nowhere")
    .link("out", "../../etc/passwd");
  repository.commit();
  return repository;
}

describe("a repository", () => {
  test("comes back with the same tree hash when no phase changed it", async () => {
    const repository = everyKind();
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(idle, { brief: "look", source: { git: repository.folder } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { commits } = await maestro.branch(session.id, { branch: "same" });
    expect(commits).toEqual([]);
    expect(repository.git("rev-parse", "same^{tree}")).toBe(repository.git("rev-parse", "HEAD^{tree}"));
    expect((await maestro.diff(session.id)).toString()).toBe("");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("at a ref has the files of that commit, whatever is checked out", async () => {
    const repository = new TestRepository().write("a.txt", "old");
    const commit = repository.commit();
    repository.write("a.txt", "new").commit("next");
    const seen: string[] = [];
    const team = worker(["look", async ({ workspace }) => void seen.push(await workspace.readText("a.txt"))]);
    const maestro = await new TeamPlace().open();
    const source = { git: repository.folder, ref: commit };
    await (await maestro.start(team, { brief: "look", source })).result();
    expect(seen).toEqual(["old"]);
  });

  test("is seen as it is on the disk, with links inside it read and links out of it refused", async () => {
    const repository = everyKind();
    const read: Record<string, string> = {};
    const team = worker([
      "look",
      async ({ workspace }) => {
        for (const path of ["kept.txt", "aux.c", "link", "out"])
          read[path] = await workspace.readText(path).catch((error: Error) => error.message);
      },
    ]);
    const maestro = await new TeamPlace().open();
    await (await maestro.start(team, { brief: "look", source: { git: repository.folder } })).result();
    expect(read).toEqual({
      "kept.txt": "a\r\nb\r\n",
      "aux.c": "x",
      link: "plain\n",
      out: '"out" is a symbolic link that leads out of the workspace.',
    });
  });
});

describe("a change", () => {
  test("arrives as a branch whose diff is exactly the change, one commit for each phase", async () => {
    const repository = everyKind();
    const base = repository.git("rev-parse", "HEAD");
    const team = worker(
      [
        "design",
        async ({ workspace }) => {
          await workspace.write("docs/design.md", "# Design\n");
        },
      ],
      [
        "build",
        async ({ workspace }) => {
          await workspace.edit("plain.txt", [{ find: "plain", replace: "changed" }]);
          await workspace.edit("kept.txt", [{ find: "b", replace: "c" }]);
          await workspace.remove("empty");
          await workspace.write("tool", "#!/bin/sh\n", { executable: true });
        },
      ],
    );
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { commits } = await maestro.branch(session.id, { branch: "maestro/change" });
    expect(commits).toHaveLength(2);
    expect(
      repository.git("diff", "--name-status", "--no-renames", base, "maestro/change").split("\n").sort(),
    ).toEqual(["A\tdocs/design.md", "A\ttool", "D\tempty", "M\tkept.txt", "M\tplain.txt"]);
    expect(repository.git("ls-tree", "maestro/change", "tool")).toMatch(/^100755 /);
    // Git records LF for a file that it writes with CRLF.
    expect(repository.git("cat-file", "blob", "maestro/change:kept.txt")).toBe("a\nc");
    expect(repository.git("log", "--format=%s", `${base}..maestro/change`)).toBe(
      "build: build is done\ndesign: design is done",
    );
    expect(
      repository
        .git("log", "-1", "--format=%(trailers:key=Maestro-Session,valueonly)", "maestro/change")
        .trim(),
    ).toBe(session.id);
    expect(repository.git("status", "--porcelain"), "the checkout is not touched").toBe("");
  });

  test("delivered again is the same commit, also in a clone", async () => {
    const repository = new TestRepository().write("a.txt", "a");
    repository.commit();
    const team = worker(["build", async ({ workspace }) => workspace.write("b.txt", "b")]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    const first = await maestro.branch(session.id, { branch: "one" });
    expect(await maestro.branch(session.id, { branch: "one" })).toEqual(first);
    const clone = join(repository.folder, "clone");
    repository.git("clone", "--quiet", repository.folder, clone);
    expect((await maestro.branch(session.id, { branch: "one", repo: clone })).commits).toEqual(first.commits);
  });

  test("never moves a branch that has other commits", async () => {
    const repository = new TestRepository().write("a.txt", "a");
    const base = repository.commit();
    repository.git("branch", "taken");
    const team = worker(["build", async ({ workspace }) => workspace.write("b.txt", "b")]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    await expect(maestro.branch(session.id, { branch: "taken" })).rejects.toThrow(
      /exists and has other commits/,
    );
    await expect(maestro.branch(session.id, { branch: "no..name" })).rejects.toThrow(
      /not a name that git accepts/,
    );
    expect(repository.git("rev-parse", "taken")).toBe(base);
  });

  test("advises to remove a branch in the way only where it is neither checked out nor a main one", async () => {
    const repository = new TestRepository().write("a.txt", "a");
    repository.commit();
    for (const name of ["spare", "checked-out", "trunk"]) repository.git("branch", name);
    const team = worker(["build", async ({ workspace }) => workspace.write("b.txt", "b")]);
    const maestro = await new TeamPlace().open();
    repository.write("a.txt", "newer").commit();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    const worktree = `${repository.folder}-worktree`;
    onTestFinished(() => rmSync(worktree, { recursive: true, force: true }));
    repository.git("worktree", "add", "--quiet", worktree, "checked-out");
    repository.git("update-ref", "refs/remotes/origin/trunk", "trunk");
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
    // The session's own branch has moved on and is not checked out any more.
    repository.write("a.txt", "newest").commit();
    repository.git("checkout", "--quiet", "--detach");
    const adviceFor = async (branch: string): Promise<string | undefined> => {
      const error: unknown = await maestro.branch(session.id, { branch }).catch((refusal) => refusal);
      return InputInvalid.is(error) ? error.advice : undefined;
    };
    expect(await adviceFor("spare")).toContain("git branch -D spare");
    for (const branch of ["main", "checked-out", "trunk"])
      expect(await adviceFor(branch), branch).toBe("Name another branch.");
  });

  test("of a phase or persona that the team does not have is refused with those that it has", async () => {
    const repository = new TestRepository().write("a.txt", "a");
    repository.commit();
    const team = worker(
      ["build", async ({ workspace }) => workspace.write("b.txt", "b")],
      ["later", async ({ workspace }) => workspace.write("c.txt", "c")],
    );
    const maestro = await new TeamPlace().open();
    const source = { git: repository.folder };
    const session = await maestro.start(team, { brief: "change", source, until: "build" });
    await session.result();
    await expect(maestro.diff(session.id, { phase: "biuld" })).rejects.toMatchObject({
      message: 'There is no phase "biuld". Did you mean "build"?',
      advice: "The phases are: build, later.",
    });
    await expect(maestro.diff(session.id, { phase: "build", persona: "later_author" })).rejects.toMatchObject(
      {
        message: expect.stringContaining('There is no persona "later_author" in phase build.'),
        advice: "The personas are: build_author.",
      },
    );
    await expect(maestro.diff(session.id, { phase: "later" })).rejects.toThrow("Phase later of session");
    await expect(maestro.diff(session.id, { phase: "later" })).rejects.toThrow("has no files yet");
  });

  test("as a diff is what git apply takes, with modes, links and binary files", async () => {
    const repository = everyKind();
    const team = worker([
      "build",
      async ({ workspace }) => {
        await workspace.write("binary.bin", Buffer.from([9, 0, 8]));
        await workspace.write("run.sh", "#!/bin/sh\n", { executable: false });
        await workspace.write("new/ünïcode.txt", "new\n");
        await workspace.remove("link");
      },
    ]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    const patch = await maestro.diff(session.id);
    execFileSync("git", ["apply", "--index"], { cwd: repository.folder, input: patch });
    await maestro.branch(session.id, { branch: "branch" });
    expect(repository.git("write-tree")).toBe(repository.git("rev-parse", "branch^{tree}"));
  });
});

test("uncommitted changes are part of the base and a first commit of their own", async () => {
  const repository = new TestRepository().write("a.txt", "a").write("gone.txt", "x").write("b.txt", "b");
  const base = repository.commit();
  repository.write("a.txt", "dirty").write("untracked.txt", "u");
  repository.git("rm", "--quiet", "gone.txt");
  const seen: string[] = [];
  const team = worker([
    "build",
    async ({ workspace }) => {
      seen.push(...workspace.list(), await workspace.readText("a.txt"));
      await workspace.write("b.txt", "changed");
    },
  ]);
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
  await session.result();
  expect(seen).toEqual(["a.txt", "b.txt", "dirty"]);
  expect((await maestro.show(session.id)).source).toMatchObject({
    commit: base,
    ref: "main",
    dirty: ["a.txt", "gone.txt"],
    leftOut: [],
  });
  const { commits } = await maestro.branch(session.id, { branch: "out" });
  expect(repository.git("log", "--format=%s", `${base}..out`)).toBe(
    "build: build is done\nworking tree at start",
  );
  expect(repository.git("diff", "--name-status", base, commits[0] ?? "")).toBe("M\ta.txt\nD\tgone.txt");
  expect(repository.git("diff", "--name-status", commits[0] ?? "", "out")).toBe("M\tb.txt");
});

test("a change of a file that git was told to assume unchanged is part of the base, and said", async () => {
  const repository = new TestRepository().write("a.txt", "a\n").write("b.txt", "b\n").write("gone.txt", "x");
  const base = repository.commit();
  repository.git("update-index", "--assume-unchanged", "a.txt", "b.txt", "gone.txt");
  repository.write("a.txt", "local\n");
  repository.git("config", "core.splitIndex", "true");
  rmSync(repository.path("gone.txt"));
  expect(repository.git("status", "--porcelain")).toBe("");
  let seen = "";
  const team = worker([
    "build",
    async ({ workspace }) => {
      seen = await workspace.readText("a.txt");
      await workspace.write("b.txt", "changed\n");
    },
  ]);
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
  await session.result();
  expect(seen).toBe("local\n");
  expect((await maestro.show(session.id)).source).toMatchObject({ dirty: ["a.txt", "gone.txt"] });
  const { commits } = await maestro.branch(session.id, { branch: "out" });
  expect(repository.git("diff", "--name-status", base, commits[0] ?? "")).toBe("M\ta.txt\nD\tgone.txt");
  expect(repository.git("diff", "--name-status", commits[0] ?? "", "out")).toBe("M\tb.txt");
  expect(repository.git("ls-files", "-v"), "the person's index is as it was").toBe(
    "h a.txt\nh b.txt\nh gone.txt",
  );
});

test("what a persona writes into a folder that setup keeps is not delivered, and the repository's own file there is", async () => {
  const repository = new TestRepository().write("deps/own.txt", "own\n").write("lock", "1\n");
  repository.commit();
  const work = worker([
    "build",
    async ({ workspace }) => {
      await workspace.write("deps/extra.txt", "extra\n");
      await workspace.write("deps/own.txt", "changed\n");
      await workspace.write("deps.txt", "fine\n");
    },
  ]);
  const setup = { run: ["mkdir", "-p", "deps/lib"], inputs: ["lock"], keep: ["deps"] };
  const team = defineTeam("worker", { phases: work.phases, setup });
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  await maestro.branch(session.id, { branch: "out" });
  const changed = ["deps.txt", "deps/own.txt"];
  expect(repository.git("diff", "--name-only", "main", "out").split("\n")).toEqual(changed);
  expect((await maestro.changedFiles(session.id)).map(({ path }) => path)).toEqual(changed);
  expect((await maestro.show(session.id)).artifacts.map(({ path }) => path)).toEqual(changed);
  expect(await maestro.apply(session.id)).toMatchObject({ written: changed });
});

test("names that are not UTF-8 are left out by the text that git shows, and stay in the branch, changed or not", async () => {
  const repository = new TestRepository().write("a.txt", "a\n");
  const [one, other] = [0xe9, 0xe8].map((byte) => Buffer.from([0x63, 0x61, 0x66, byte, 0x2e, 0x74]));
  for (const name of [one, other]) writeFileSync(repository.path(name ?? ""), "x");
  repository.commit();
  writeFileSync(repository.path(one ?? ""), "changed");
  const team = worker(["build", async ({ workspace }) => workspace.write("a.txt", "b\n")]);
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
  await session.result();
  const { source } = await maestro.show(session.id);
  expect(source?.dirty).toEqual([]);
  const shown = repository.git("ls-tree", "--name-only", "HEAD").split("\n");
  expect(source?.leftOut.map(({ path }) => path).sort()).toEqual(
    shown.filter((name) => name !== "a.txt").sort(),
  );
  await maestro.branch(session.id, { branch: "out" });
  expect(repository.git("diff", "--name-status", "main", "out")).toBe("M\ta.txt");
});

describe("the commits depend on the session alone:", () => {
  test("neither attributes that are checked out later nor settings of the person change them", async () => {
    const repository = new TestRepository().write(".gitattributes", "*.txt text\n").write("a.txt", "a\n");
    repository.write("b.dat", "b\r\n");
    repository.commit();
    const team = worker([
      "build",
      async ({ workspace }) => {
        await workspace.write("a.txt", "changed\r\n");
        await workspace.write("b.dat", "changed\r\n");
        await workspace.write("sub/.gitattributes", "*.dat text\n");
        await workspace.write("sub/c.dat", "c\r\n");
      },
    ]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    const first = await maestro.branch(session.id, { branch: "first" });
    const bytes = ["a.txt", "b.dat", "sub/c.dat"].map((path) =>
      repository.git("cat-file", "-s", `first:${path}`),
    );
    // Text of the base and of the session itself is recorded with LF, and other files as they are.
    expect(bytes).toEqual(["8", "9", "2"]);
    repository.write(".gitattributes", "*.txt -text\n*.dat text\n");
    repository.git("config", "core.autocrlf", "true");
    const second = await maestro.branch(session.id, { branch: "second" });
    expect(second.commits).toEqual(first.commits);
    expect((await maestro.diff(session.id)).toString()).toContain("+changed\r\n");
  });

  test("line ends of a person's working tree are recorded when the session begins", async () => {
    const repository = new TestRepository().write("a.txt", "a\nb\n");
    repository.commit();
    repository.git("config", "core.autocrlf", "true");
    repository.git("rm", "--quiet", "--cached", "a.txt");
    repository.git("reset", "--hard", "--quiet");
    expect(readFileSync(repository.path("a.txt"), "utf8")).toBe("a\r\nb\r\n");
    const team = worker(["build", async ({ workspace }) => workspace.write("a.txt", "a\r\nB\r\n")]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    const first = await maestro.branch(session.id, { branch: "first" });
    expect(repository.git("diff", "--numstat", "main", "first")).toBe("1\t1\ta.txt");
    repository.git("config", "--unset", "core.autocrlf");
    expect((await maestro.branch(session.id, { branch: "second" })).commits).toEqual(first.commits);
  });
});

describe("files that stay home", () => {
  test("are named with their reason, are nowhere in the session, and stay in the branch", async () => {
    const repository = new TestRepository();
    const key = `-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n`;
    repository
      .write(".env", "KEY=canary-1")
      .write(".env.example", "KEY=")
      .write("config/.env.production", "KEY=canary-2")
      .write("id_rsa", "canary-3")
      .write("deploy/server.pem", "canary-4")
      .write("src/settings.ts", `export const key = "ghp_${"a1B2".repeat(9)}";`)
      .write("notes.txt", key)
      .write("README.md", "fine\n")
      .write("Readme.md", "differs in case\n")
      .write("line\nbreak", "x");
    repository.commit();
    const seen: string[] = [];
    const team = worker([
      "build",
      async ({ workspace }) => {
        seen.push(...workspace.list());
        await workspace.write("README.md", "changed\n");
      },
    ]);
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    expect(seen).toEqual([".env.example", "README.md"]);
    const { source } = await maestro.show(session.id);
    expect(source?.leftOut).toEqual([
      { path: ".env", reason: "its name says that it holds secrets" },
      { path: "Readme.md", reason: 'it differs from "README.md" only in case or Unicode form' },
      { path: "config/.env.production", reason: "its name says that it holds secrets" },
      { path: "deploy/server.pem", reason: "its name says that it holds secrets" },
      { path: "id_rsa", reason: "its name says that it holds secrets" },
      { path: "line\nbreak", reason: "its name cannot be in a workspace" },
      { path: "notes.txt", reason: "it holds a private key" },
      { path: "src/settings.ts", reason: "it holds a GitHub token" },
    ]);
    await maestro.branch(session.id, { branch: "out" });
    expect(repository.git("diff", "--name-only", "HEAD", "out")).toBe("README.md");
    await maestro.close();
    const found = spawnSync("grep", ["-rlaE", "canary|ghp_", place.stateDir], { encoding: "utf8" });
    expect(found).toMatchObject({ status: 1, stdout: "" });
  });

  test("with include and exclude only the chosen files are in the session, and the others stay", async () => {
    const repository = new TestRepository()
      .write("src/a.ts", "a")
      .write("src/a.snap", "s")
      .write("docs/b.md", "b");
    repository.commit();
    const seen: string[] = [];
    const team = worker([
      "build",
      async ({ workspace }) => {
        seen.push(...workspace.list());
        await workspace.write("src/a.ts", "changed");
      },
    ]);
    const maestro = await new TeamPlace().open();
    const source = { git: repository.folder, include: ["src/**"], exclude: ["**/*.snap"] };
    const session = await maestro.start(team, { brief: "change", source });
    await session.result();
    expect(seen).toEqual(["src/a.ts"]);
    await maestro.branch(session.id, { branch: "out" });
    expect(repository.git("diff", "--name-only", "HEAD", "out")).toBe("src/a.ts");
  });
});

test("a file that was excluded is not replaced by one that a persona makes in its place", async () => {
  const repository = new TestRepository().write("src/a.ts", "a").write("docs/b.md", "theirs");
  repository.commit();
  const team = worker(["build", async ({ workspace }) => workspace.write("docs/b.md", "mine")]);
  const maestro = await new TeamPlace().open();
  const source = { git: repository.folder, include: ["src/**"] };
  const session = await maestro.start(team, { brief: "change", source });
  await session.result();
  await expect(maestro.branch(session.id, { branch: "out" })).rejects.toThrow(
    /made "docs\/b\.md", which the repository has and the session did not see/,
  );
  expect(repository.git("branch", "--list", "out")).toBe("");
  expect(await maestro.apply(session.id)).toMatchObject({ written: [], conflicts: [{ path: "docs/b.md" }] });
});

describe("what a session did not see stays in the branch and in the folder:", () => {
  /** A session whose persona makes one file. */
  async function making(repository: TestRepository, made: string, source = {}) {
    repository.commit();
    const team = worker(["build", async ({ workspace }) => workspace.write(made, "mine")]);
    const maestro = await new TeamPlace().open({ teams: [team] });
    const start = { brief: "change", source: { git: repository.folder, ...source } };
    const session = await maestro.start(team, start);
    expect(await session.result()).toMatchObject({ status: "completed" });
    return { maestro, id: session.id };
  }

  async function refuses(
    { maestro, id }: Awaited<ReturnType<typeof making>>,
    repository: TestRepository,
    made: string,
    other: string,
  ) {
    const before = repository.git("ls-files", "-s");
    await expect(maestro.branch(id, { branch: "out" })).rejects.toThrow(
      `made "${made}" in the place of "${other}", which the repository has and the session did not see`,
    );
    expect(await maestro.apply(id)).toMatchObject({ written: [], conflicts: [{ path: made }] });
    expect(repository.git("ls-files", "-s")).toBe(before);
    expect(repository.git("status", "--porcelain")).toBe("");
  }

  /** A persona's file is put back, so that the branch has nothing; a person's edit is refused when it is delivered. */
  async function stays(repository: TestRepository, made: string, other: string) {
    const { maestro, id } = await making(repository, made);
    expect((await maestro.diff(id)).toString()).toBe("");
    const edited = await maestro.fork(id, { edits: { build: { files: { [made]: "mine" } } }, at: "build" });
    expect(await (await maestro.resume(edited.id)).result()).toMatchObject({ status: "completed" });
    await refuses({ maestro, id: edited.id }, repository, made, other);
  }

  test("a key that was left out, where a file gets the name of its folder", async () => {
    const repository = new TestRepository().write("a.txt", "a").write("keys/server.pem", "secret");
    await stays(repository, "keys", "keys/server.pem");
    expect(repository.git("branch", "--list", "out")).toBe("");
  });

  test.each(["checked out", "not checked out"])(
    "a submodule that is %s, where a file is made below it",
    async (state) => {
      const inner = new TestRepository().write("lib.txt", "lib");
      inner.commit();
      const repository = new TestRepository().write("a.txt", "a");
      repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.folder, "sub");
      if (state === "not checked out") repository.git("submodule", "--quiet", "deinit", "--force", "sub");
      await stays(repository, "sub/x", "sub");
      expect(existsSync(repository.path("sub/x"))).toBe(false);
    },
  );

  test("a folder that was excluded, where a persona makes a file of its name", async () => {
    const repository = new TestRepository().write("a.txt", "a").write("lib/a.js", "a");
    const made = await making(repository, "lib", { exclude: ["lib/**"] });
    await refuses(made, repository, "lib", "lib/a.js");
    expect(repository.git("branch", "--list", "out")).toBe("");
  });

  test("an excluded file, where a persona makes a folder of its name", async () => {
    const repository = new TestRepository().write("a.txt", "a").write("lib", "x");
    const made = await making(repository, "lib/b.js", { exclude: ["lib"] });
    await refuses(made, repository, "lib/b.js", "lib");
    expect(repository.git("branch", "--list", "out")).toBe("");
  });

  test("but a folder whose files a persona removed may become a file", async () => {
    const repository = new TestRepository().write("a.txt", "a").write("lib/a.js", "a");
    repository.commit();
    const team = worker([
      "build",
      async ({ workspace }) => {
        await workspace.remove("lib/a.js");
        await workspace.write("lib", "one file");
      },
    ]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    await session.result();
    await maestro.branch(session.id, { branch: "out" });
    expect(repository.git("diff", "--no-renames", "--name-status", "main", "out")).toBe(
      "A\tlib\nD\tlib/a.js",
    );
  });
});

describe("a hostile repository", () => {
  test("runs none of its programs: hooks, filters, monitors, editors", async () => {
    const repository = new TestRepository().write("a.txt", "a").write("b.dat", "b");
    repository.write(".gitattributes", "*.txt filter=evil diff=evil\n*.dat filter=evil\n");
    repository.commit();
    const ran = join(repository.folder, ".git", "ran");
    const program = join(repository.folder, ".git", "evil.sh");
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 });
    for (const key of [
      "core.fsmonitor",
      "core.sshCommand",
      "core.editor",
      "core.pager",
      "diff.external",
      "diff.evil.textconv",
      "filter.evil.clean",
      "filter.evil.smudge",
      "filter.evil.process",
      "gpg.program",
      "credential.helper",
    ])
      repository.git("config", key, program);
    repository.git("config", "filter.evil.required", "true");
    repository.git("config", "commit.gpgSign", "true");
    for (const hook of [
      "pre-commit",
      "post-commit",
      "reference-transaction",
      "post-index-change",
      "post-checkout",
    ])
      writeFileSync(join(repository.folder, ".git/hooks", hook), readFileSync(program), { mode: 0o755 });
    writeFileSync(join(repository.folder, "a.txt"), "dirty");
    const team = worker(["build", async ({ workspace }) => workspace.write("a.txt", "changed")]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    await maestro.diff(session.id);
    await maestro.branch(session.id, { branch: "out" });
    expect(existsSync(ran) ? readFileSync(ran, "utf8") : "").toBe("");
  });
});

describe("is refused before anything is stored or paid:", () => {
  const refusal = async (git: string, ref?: string): Promise<string> => {
    const maestro = await new TeamPlace().open();
    const source = { git, ...(ref !== undefined && { ref }) };
    const error = await maestro.start(idle, { brief: "x", source }).then(
      () => new Error("accepted"),
      (refused: Error) => refused,
    );
    expect(await maestro.sessions()).toEqual([]);
    return error.message;
  };

  test("a folder that does not exist, a file, and a folder that is no repository", async () => {
    const repository = new TestRepository().write("file", "x");
    expect(await refusal(join(repository.folder, "nowhere"))).toMatch(/There is no folder/);
    expect(await refusal(join(repository.folder, "file"))).toMatch(/is not a folder/);
    expect(await refusal("/")).toMatch(/is not a git repository/);
  });

  test("a repository without a commit, and an unknown ref", async () => {
    const repository = new TestRepository();
    expect(await refusal(repository.folder)).toMatch(/has no commit yet/);
    repository.write("a", "a").commit();
    expect(await refusal(repository.folder, "no-such-branch")).toMatch(/has no commit "no-such-branch"/);
    expect(await refusal(repository.folder, "--upload-pack=evil")).toMatch(
      /has no commit "--upload-pack=evil"/,
    );
  });

  test("a folder inside a repository, its .git folder, and one in the middle of a merge", async () => {
    const repository = new TestRepository().write("inner/a", "a");
    repository.commit();
    expect(await refusal(join(repository.folder, "inner"))).toMatch(/is a folder inside the repository/);
    expect(await refusal(join(repository.folder, ".git"))).toMatch(/inside the \.git folder/);
    repository.git("checkout", "--quiet", "-b", "other");
    repository.write("inner/a", "other").commit("other");
    repository.git("checkout", "--quiet", "main");
    repository.write("inner/a", "main").commit("main");
    expect(() => repository.git("merge", "other")).toThrow(/merge/);
    expect(await refusal(repository.folder)).toMatch(/in the middle of a merge/);
  });
});

test("a submodule is left out and named; a bare repository and a detached head work", async () => {
  const inner = new TestRepository().write("lib.txt", "lib");
  inner.commit();
  const repository = new TestRepository().write("a.txt", "a");
  repository.commit();
  repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.folder, "vendor");
  repository.commit("submodule");
  repository.git("checkout", "--quiet", "--detach");
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(idle, { brief: "x", source: { git: repository.folder } });
  await session.result();
  expect((await maestro.show(session.id)).source).toMatchObject({
    ref: "HEAD",
    leftOut: [{ path: "vendor", reason: "it is a submodule" }],
  });
  const bare = join(repository.folder, ".git", "bare");
  repository.git("clone", "--quiet", "--bare", repository.folder, bare);
  const ofBare = await maestro.start(idle, { brief: "x", source: { git: bare } });
  expect(await ofBare.result()).toMatchObject({ status: "completed" });
});
