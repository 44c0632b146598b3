import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, describeClones, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { serveGit } from "./git-server.ts";
import { TestRepository } from "./test-repository.ts";

const author = (seen: string[] = []) =>
  defineTeam("author", {
    phases: [
      phase("build", {
        personas: [
          persona("author", {
            run: async ({ workspace }) => {
              seen.push(...workspace.list());
              await workspace.write("b.txt", "b");
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });

const clonesIn = (stateDir: string): string[] => {
  const folder = join(stateDir, "repositories");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};

test("a file address is fetched into a bare clone, and the branch is delivered there", async () => {
  const repository = new TestRepository().write("a.txt", "old");
  repository.commit();
  const commit = repository.write("a.txt", "a").commit("next");
  repository.write("a.txt", "not committed");
  const [place, seen] = [new TeamPlace(), [] as string[]];
  const maestro = await place.open();
  const git = `file://${repository.folder}`;
  const session = await maestro.start(author(seen), { brief: "x", source: { git } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(seen).toEqual(["a.txt"]);
  expect((await maestro.show(session.id)).source).toMatchObject({ git, ref: "main", commit, dirty: [] });
  const { commits } = await maestro.branch(session.id, { branch: "out" });
  const [clone = ""] = clonesIn(place.stateDir);
  const inClone = (...args: string[]) =>
    spawnSync("git", ["-C", clone, ...args], { encoding: "utf8" }).stdout.trim();
  expect(inClone("rev-parse", "out")).toBe(commits[0]);
  expect(inClone("diff", "--name-status", commit, "out")).toBe("A\tb.txt");
  expect(repository.git("branch", "--list", "out"), "the remote is not touched").toBe("");
  expect((await describeClones(place.stateDir)).map(({ git: address }) => address)).toEqual([git]);
  await expect(maestro.apply(session.id)).rejects.toThrow(/fetched from an address/);
});

test("each start fetches anew; two starts at one commit share a clone", async () => {
  const repository = new TestRepository().write("a.txt", "a");
  const first = repository.commit();
  const place = new TeamPlace();
  const maestro = await place.open();
  const source = { git: `file://${repository.folder}` };
  const [one, other] = await Promise.all(
    ["1", "2"].map(async (brief) => maestro.start(author(), { brief, source })),
  );
  await Promise.all([one?.result(), other?.result()]);
  expect(clonesIn(place.stateDir)).toHaveLength(1);
  const second = repository.write("a.txt", "new").commit("next");
  const later = await maestro.start(author(), { brief: "3", source });
  await later.result();
  expect((await maestro.show(later.id)).source?.commit).toBe(second);
  const pinned = await maestro.start(author(), { brief: "4", source: { ...source, ref: first } });
  await pinned.result();
  expect((await maestro.show(pinned.id)).source?.commit).toBe(first);
  repository.git("tag", "-a", "v1", "-m", "one", first);
  const tagged = await maestro.start(author(), { brief: "5", source: { ...source, ref: "v1" } });
  await tagged.result();
  expect((await maestro.show(tagged.id)).source).toMatchObject({ ref: "v1", commit: first });
});

test("a clone goes when no session needs it, and not before", async () => {
  const repository = new TestRepository().write("a.txt", "a");
  repository.commit();
  const place = new TeamPlace();
  const maestro = await place.open();
  const source = { git: `file://${repository.folder}` };
  const session = await maestro.start(author(), { brief: "x", source });
  await session.result();
  const [clone = ""] = clonesIn(place.stateDir);
  const old = new Date(Date.now() - 48 * 3_600_000);
  utimesSync(clone, old, old);
  expect(await maestro.prune({ olderThanMs: 3_600_000 })).toMatchObject({ repositories: 0 });
  expect(existsSync(clone)).toBe(true);
  expect(await maestro.prune({ keep: 0 })).toMatchObject({ sessions: [session.id], repositories: 1 });
  expect(existsSync(clone)).toBe(false);
});

describe("over http", () => {
  test("a repository is fetched with the user's own credentials, and the password is recorded nowhere", async () => {
    const repository = new TestRepository().write("a.txt", "a");
    const commit = repository.commit();
    const origin = await serveGit(dirname(repository.folder), { user: "me", password: "canary-password" });
    const name = repository.folder.slice(repository.folder.lastIndexOf("/") + 1);
    const place = new TeamPlace();
    const maestro = await place.open();
    const address = `${origin}/${name}`;
    await expect(maestro.start(author(), { brief: "x", source: { git: address } })).rejects.toThrow(
      /cannot be fetched: .*(?:could not read Username|terminal prompts disabled)/,
    );
    const withPassword = address.replace("://", "://me:canary-password@");
    const session = await maestro.start(author(), { brief: "x", source: { git: withPassword } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(session.id)).source).toMatchObject({ git: address, commit });
    const settings = join(repository.folder, "settings");
    writeFileSync(
      settings,
      `[credential]\n\thelper = "!f() { echo username=me; echo password=canary-password; }; f"\n`,
    );
    vi.stubEnv("GIT_CONFIG_GLOBAL", settings);
    onTestFinished(() => void vi.unstubAllEnvs());
    const byHelper = await maestro.start(author(), { brief: "y", source: { git: address } });
    expect(await byHelper.result()).toMatchObject({ status: "completed" });
    expect(place.notices.join("\n")).not.toContain("canary");
    await maestro.close();
    expect(spawnSync("grep", ["-rla", "canary", place.stateDir]).stdout.toString()).toBe("");
  });
});

test("a repository is fetched from a git daemon", async () => {
  const repository = new TestRepository().write("a.txt", "a");
  const commit = repository.commit();
  const port = await freePort();
  const daemon = spawn("git", [
    "daemon",
    "--listen=127.0.0.1",
    `--port=${port}`,
    "--export-all",
    `--base-path=${dirname(repository.folder)}`,
    "--reuseaddr",
  ]);
  onTestFinished(() => void daemon.kill());
  await vi.waitFor(() => connects(port), { timeout: 10_000, interval: 50 });
  const maestro = await new TeamPlace().open();
  const name = repository.folder.slice(repository.folder.lastIndexOf("/") + 1);
  const session = await maestro.start(author(), {
    brief: "x",
    source: { git: `git://127.0.0.1:${port}/${name}` },
  });
  await session.result();
  expect((await maestro.show(session.id)).source?.commit).toBe(commit);
});

describe("is refused with nothing stored:", () => {
  const refusal = async (git: string, ref?: string): Promise<string> => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const source = { git, ...(ref !== undefined && { ref }) };
    const error = await maestro.start(author(), { brief: "x", source }).then(
      () => new Error("accepted"),
      (refused: Error) => refused,
    );
    expect(await maestro.sessions()).toEqual([]);
    expect(clonesIn(place.stateDir)).toEqual([]);
    const scratch = join(place.stateDir, "scratch");
    expect(existsSync(scratch) ? readdirSync(scratch) : []).toEqual([]);
    return error.message;
  };

  test("an address that names a program, an option or an unknown scheme", async () => {
    expect(await refusal("ext::sh -c touch% /tmp/evil")).toMatch(/has spaces/);
    expect(await refusal("ext::evil")).toMatch(/names a program of git/);
    expect(await refusal("--upload-pack=evil")).toMatch(/There is no folder/);
    expect(await refusal("ssh://-oProxyCommand=evil/x")).toMatch(/host that begins with a dash/);
    expect(await refusal("ftp://host/x")).toMatch(/begins with ftp:/);
  });

  test("a server that does not answer, a repository that is not there, one without a commit, and an unknown ref", async () => {
    expect(await refusal(`http://127.0.0.1:${await freePort()}/x.git`)).toMatch(/cannot be fetched/);
    const repository = new TestRepository();
    expect(await refusal(`file://${repository.folder}/nowhere`)).toMatch(/cannot be fetched/);
    expect(await refusal(`file://${repository.folder}`)).toMatch(/has no commit yet/);
    repository.write("a", "a").commit();
    expect(await refusal(`file://${repository.folder}`, "nope")).toMatch(/has no branch or tag "nope"/);
    expect(await refusal(`file://${repository.folder}`, "0".repeat(40))).toMatch(/has no commit 0{40}/);
  });
});

test("settings of a repository around the state directory do not count for a fetch", async () => {
  const repository = new TestRepository().write("a.txt", "a");
  repository.commit();
  const around = new TestRepository();
  const ran = join(around.folder, "ran");
  around.git("config", "credential.helper", `!touch ${ran}`);
  around.git("config", "core.sshCommand", `touch ${ran}`);
  around.git("config", `url.ext::touch ${ran}.insteadOf`, "file://");
  const stateDir = join(around.folder, "state");
  mkdirSync(stateDir);
  const maestro = await new TeamPlace().open({ stateDir });
  const source = { git: `file://${repository.folder}` };
  const session = await maestro.start(author(), { brief: "x", source });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(existsSync(ran)).toBe(false);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const connects = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.destroy();
      resolve();
    });
    socket.on("error", reject);
  });
