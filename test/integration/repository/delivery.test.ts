import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defineTeam, persona, phase, type StartOptions } from "../../../src/index.ts";
import { clockAhead } from "../../crash/support/later.ts";
import { githubAccount, LoopbackGithub, pullsPath } from "../../support/loopback-github.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const changes = (more: object = {}) =>
  defineTeam("worker", {
    phases: [
      phase("change", {
        personas: [
          persona("author", {
            run: async ({ workspace }) => {
              await workspace.write("a.txt", "changed\n");
              return {
                summary: "changed a.txt",
                decisions: [
                  { title: "Which file", choice: "a.txt", reason: "it is the only one", rejected: [] },
                ],
              };
            },
          }),
        ],
      }),
    ],
    ...more,
  });

function repository(): TestRepository {
  const made = new TestRepository().write("a.txt", "old\n").write("b.txt", "b\n");
  made.commit();
  return made;
}

/** A bare repository as the remote `origin`. */
function withRemote(source: TestRepository): { readonly folder: string; git(...args: string[]): string } {
  const folder = mkdtempSync(join(tmpdir(), "maestro-remote-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync("git", ["init", "--quiet", "--bare", folder]);
  source.git("remote", "add", "origin", folder);
  source.git("push", "--quiet", "origin", "main");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trimEnd();
  return { folder, git };
}

async function run(source: TestRepository, options: Partial<StartOptions> = {}, team = changes(), open = {}) {
  const place = new TeamPlace();
  const maestro = await place.open(open);
  const session = await maestro.start(team, {
    brief: "Change it.\nIn full.",
    key: "job",
    source: { git: source.folder },
    ...options,
  });
  const result = await session.result();
  return { place, maestro, id: session.id, result, view: await maestro.show(session.id) };
}

describe("a session that was started with a delivery", () => {
  test("makes the branch when it is completed, and records its commits", async () => {
    const source = repository();
    const { view, result } = await run(source, { deliver: { branch: "maestro/{key}" } });
    expect(result).toMatchObject({ status: "completed" });
    const commit = source.git("rev-parse", "maestro/job");
    expect(view.delivery).toEqual({
      branch: "maestro/job",
      commits: [commit],
      remote: null,
      pullRequest: null,
      patch: null,
      applied: null,
      failures: [],
    });
    expect(source.git("diff", "--stat", "main", "maestro/job")).toContain("1 file changed");
    expect(source.git("status", "--porcelain")).toBe("");
  });

  test("delivers after a later resume too", async () => {
    const source = repository();
    const place = new TeamPlace();
    const team = changes({
      phases: [
        phase("change", {
          review: true,
          personas: [
            persona("author", {
              run: async ({ workspace }) => {
                await workspace.write("a.txt", "changed\n");
                return { summary: "done" };
              },
            }),
          ],
        }),
      ],
    });
    const first = await place.open({ teams: [team] });
    const options = { brief: "x", source: { git: source.folder }, deliver: { branch: "later" } };
    const session = await first.start(team, options);
    expect(await session.result()).toMatchObject({ status: "parked" });
    expect(source.git("branch", "--list", "later")).toBe("");
    await first.approve(session.id);
    await first.close();
    const second = await place.open({ teams: [team] });
    expect(await (await second.resume(session.id)).result()).toMatchObject({ status: "completed" });
    expect(source.git("branch", "--list", "later")).toContain("later");
  });

  test("writes a patch and applies the changes", async () => {
    const source = repository();
    const patch = join(source.folder, "..", `patch-${Date.now()}.diff`);
    onTestFinished(() => rmSync(patch, { force: true }));
    const { view } = await run(source, { deliver: { patch, apply: true } });
    expect(view.delivery).toMatchObject({ patch, applied: { written: 1, removed: 0 }, failures: [] });
    expect(readFileSync(source.path("a.txt"), "utf8")).toBe("changed\n");
    source.git("checkout", "--quiet", "a.txt");
    source.git("apply", patch);
    expect(readFileSync(source.path("a.txt"), "utf8")).toBe("changed\n");
  });

  test("is completed although its delivery fails, and says how to repeat it", async () => {
    const source = repository();
    const team = changes({
      phases: [
        phase("change", {
          personas: [
            persona("author", {
              run: async ({ workspace }) => {
                await workspace.write("a.txt", "changed\n");
                // A person changes the same file meanwhile.
                source.write("a.txt", "mine\n");
                return { summary: "done" };
              },
            }),
          ],
        }),
      ],
    });
    const { result, view, id } = await run(source, { deliver: { apply: true } }, team);
    expect(result).toMatchObject({ status: "completed" });
    expect(view.delivery?.failures).toEqual([
      { part: "apply", message: expect.stringContaining("a.txt"), command: ["apply", id] },
    ]);
    expect(readFileSync(source.path("a.txt"), "utf8")).toBe("mine\n");
  });

  test("with the key of a completed session, delivers that one", async () => {
    const source = repository();
    const { maestro } = await run(source);
    const again = { brief: "Change it.\nIn full.", key: "job", source: { git: source.folder } };
    await (await maestro.start(changes(), { ...again, deliver: { branch: "afterwards" } })).result();
    expect((await maestro.show("job")).delivery).toMatchObject({ branch: "afterwards" });
    expect(source.git("branch", "--list", "afterwards")).toContain("afterwards");
  });
});

describe("the same command again", () => {
  const again = (source: TestRepository) => ({
    brief: "Change it.\nIn full.",
    key: "job",
    source: { git: source.folder },
    deliver: { apply: true },
  });
  const adding = changes({
    phases: [
      phase("change", {
        personas: [
          persona("author", {
            run: async ({ workspace }) => {
              await workspace.write("a.txt", "changed\n");
              await workspace.write("new.txt", "new\n");
              await workspace.remove("b.txt");
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });

  test("is the same session although its own delivery changed the files, also when that was killed midway", async () => {
    const source = repository();
    const { maestro, id } = await run(source, { deliver: { apply: true } }, adding);
    expect(source.git("status", "--porcelain")).toBe(" M a.txt\n D b.txt\n?? new.txt");
    expect((await maestro.start(adding, again(source))).id).toBe(id);
    source.git("checkout", "--quiet", "b.txt");
    const session = await maestro.start(adding, again(source));
    expect(session.id).toBe(id);
    await session.result();
    // New files may be staged by now.
    source.git("add", "--all");
    expect((await maestro.start(adding, again(source))).id).toBe(id);
  });

  test("is refused when a person changed the files since, and says that", async () => {
    const source = repository();
    const { maestro, id } = await run(source, { deliver: { apply: true } }, adding);
    source.write("a.txt", "mine\n");
    const refused = maestro.start(adding, again(source));
    await expect(refused).rejects.toThrow(
      `The key "job" belongs to session ${id}, and ${source.folder} has changed since it began.`,
    );
  });
});

test("a key of other work is refused with the terms that differ, and only with these", async () => {
  const maestro = await new TeamPlace().open();
  const { id } = await maestro.start(changes(), { brief: "Change it.", key: "job" });
  const other = defineTeam("other", {
    phases: [phase("p", { personas: [persona("dev", { run: async () => ({ summary: "s" }) })] })],
  });
  const of = `The key "job" belongs to session ${id}, which has `;
  await expect(maestro.start(changes(), { brief: "Another.", key: "job" })).rejects.toThrow(
    `${of}another brief.`,
  );
  await expect(maestro.start(other, { brief: "Change it.", key: "job" })).rejects.toThrow(
    `${of}another team (worker).`,
  );
  const source = { git: repository().folder };
  await expect(maestro.start(changes(), { brief: "Another.", key: "job", source })).rejects.toThrow(
    `${of}another brief and another repository, or another state of it.`,
  );
});

describe("an order that cannot succeed is refused before anything runs", () => {
  test.each([
    [{ branch: "main" }, 'The branch "main" exists and has other commits.'],
    [{ branch: "a..b" }, '"a..b" is not a name that git accepts for a branch.'],
    [{ branch: "@{-1}" }, "is not a name that git accepts for a branch."],
    [{ branch: "-f" }, "is not a name that git accepts for a branch."],
    [{ branch: "x", push: "upstream" }, 'has no remote "upstream".'],
    [{ pullRequest: true, push: "origin" }, "A pull request needs a token of GitHub."],
    [{ patch: "/nowhere/at/all.diff" }, "The patch cannot be written to /nowhere/at/all.diff."],
  ])("%j", async (deliver, message) => {
    const source = repository();
    withRemote(source);
    const place = new TeamPlace();
    const maestro = await place.open();
    const started = maestro.start(changes(), { brief: "x", source: { git: source.folder }, deliver });
    await expect(started).rejects.toThrow(message);
    expect(await maestro.sessions()).toEqual([]);
  });

  test.each(["a bare repository", "an address"])("files of %s, which has no checkout", async (what) => {
    const bare = withRemote(repository()).folder;
    const git = what === "an address" ? `file://${bare}` : bare;
    const maestro = await new TeamPlace().open();
    const started = maestro.start(changes(), {
      brief: "x",
      source: { git, ref: "main" },
      deliver: { apply: true },
    });
    await expect(started).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringMatching(
        /is a folder of git itself|there is no folder to bring the changes into/,
      ),
    });
    expect(await maestro.sessions()).toEqual([]);
  });

  test.each([
    ["maestro", "maestro/{key}"],
    ["maestro", "maestro/{id}/work"],
    ["maestro/other", "maestro"],
  ])("a branch that cannot exist beside %s: %s", async (taken, branch) => {
    const source = repository();
    source.git("branch", taken);
    const maestro = await new TeamPlace().open();
    const start = { brief: "x", key: "job", source: { git: source.folder }, deliver: { branch } };
    await expect(maestro.start(changes(), start)).rejects.toThrow(
      `the branch "${taken}" exists, and git does not allow both names`,
    );
    expect(await maestro.sessions()).toEqual([]);
  });

  test("a branch that is checked out and has no commit yet", async () => {
    const source = repository();
    source.git("checkout", "--quiet", "--orphan", "fresh");
    const maestro = await new TeamPlace().open();
    const start = { brief: "x", source: { git: source.folder, ref: "main" }, deliver: { branch: "fresh" } };
    await expect(maestro.start(changes(), start)).rejects.toThrow("is checked out and has no commit yet");
  });

  test("a delivery as a branch of a session without a repository", async () => {
    const maestro = await new TeamPlace().open();
    const start = maestro.start(changes(), { brief: "x", deliver: { branch: "x" } });
    await expect(start).rejects.toThrow("needs a repository");
  });
});

describe("a push", () => {
  test("brings the branch to the remote, once, and runs no hook or program of the repository", async () => {
    const source = repository();
    const remote = withRemote(source);
    const trap = join(source.folder, ".git", "trap");
    const spring = `#!/bin/sh\ntouch ${trap}\n`;
    for (const hook of ["pre-push", "reference-transaction", "post-commit", "pre-commit"]) {
      mkdirSync(join(source.folder, ".git/hooks"), { recursive: true });
      writeFileSync(join(source.folder, ".git/hooks", hook), spring, { mode: 0o755 });
    }
    writeFileSync(join(source.folder, ".git/evil"), spring, { mode: 0o755 });
    for (const key of [
      "core.sshCommand",
      "core.fsmonitor",
      "credential.helper",
      "core.askPass",
      "gpg.program",
    ])
      source.git("config", key, join(source.folder, ".git/evil"));
    const { view, maestro, id } = await run(source, { deliver: { branch: "work", push: "origin" } });
    expect(view.delivery).toMatchObject({ remote: "origin", failures: [] });
    expect(remote.git("rev-parse", "work")).toBe(view.delivery?.commits.at(-1));
    expect(existsSync(trap)).toBe(false);
    const again = await maestro.branch(id, { branch: "work", push: "origin" });
    expect(again.commits).toEqual(view.delivery?.commits);
  });

  test("that a protected remote rejects leaves the local branch and says why", async () => {
    const source = repository();
    const remote = withRemote(source);
    writeFileSync(
      join(remote.folder, "hooks/pre-receive"),
      "#!/bin/sh\necho protected by rule >&2\nexit 1\n",
    );
    chmodSync(join(remote.folder, "hooks/pre-receive"), 0o755);
    const { view, result, id } = await run(source, { deliver: { branch: "work", push: "origin" } });
    expect(result).toMatchObject({ status: "completed" });
    expect(view.delivery).toMatchObject({ branch: "work", remote: null });
    expect(view.delivery?.failures).toEqual([
      {
        part: "push",
        message: expect.stringContaining("protected by rule"),
        command: ["branch", id, "work", "--push", "origin"],
      },
    ]);
    expect(source.git("branch", "--list", "work")).toContain("work");
    expect(remote.git("branch", "--list", "work")).toBe("");
  });

  test("is left out, with its pull request, when the session changed nothing", async () => {
    const source = repository();
    const remote = withRemote(source);
    const github = await LoopbackGithub.start();
    onTestFinished(() => github.server.close());
    const idle = changes({
      phases: [phase("look", { personas: [persona("reader", { run: async () => ({ summary: "fine" }) })] })],
    });
    const order = { branch: "work", pullRequest: true };
    const { view, maestro } = await run(source, { deliver: order }, idle, { github: github.options });
    expect(view.delivery).toMatchObject({ commits: [], remote: null, pullRequest: null, failures: [] });
    expect(remote.git("branch", "--list", "work")).toBe("");
    expect([github.pulls, await maestro.tickets()]).toEqual([[], []]);
  });

  test("never moves a branch of the remote that has other commits", async () => {
    const source = repository();
    const remote = withRemote(source);
    remote.git("branch", "work", "main");
    const before = remote.git("rev-parse", "work");
    const { view } = await run(source, { deliver: { branch: "work", push: "origin" } });
    expect(view.delivery?.failures).toMatchObject([{ part: "push" }]);
    expect(view.delivery?.failures[0]?.message).toContain("with other commits");
    expect(remote.git("rev-parse", "work")).toBe(before);
  });

  test("does not start a program that the address of a remote names", async () => {
    const source = repository();
    const trap = join(source.folder, ".git", "trap");
    source.git("remote", "add", "origin", `ext::touch ${trap}`);
    source.git("config", "protocol.ext.allow", "always");
    const { view } = await run(source, { deliver: { branch: "work", push: "origin" } });
    expect(view.delivery?.failures).toMatchObject([{ part: "push" }]);
    expect(existsSync(trap)).toBe(false);
  });
});

describe("a pull request", () => {
  async function requested(script: readonly string[] = []) {
    const source = repository();
    const remote = withRemote(source);
    const github = await LoopbackGithub.start();
    onTestFinished(() => github.server.close());
    github.commitOf = (branch) => remote.git("rev-parse", branch);
    if (script.length > 0) github.server.switches.script[pullsPath] = [...script] as never;
    const team = changes({ deliver: { branch: "maestro/{key}", pullRequest: true } });
    const done = await run(source, {}, team, { github: github.options });
    return { ...done, source, remote, github };
  }

  /** A process an hour later: every wait of the outbox is over. */
  async function later({ place, github }: Awaited<ReturnType<typeof requested>>) {
    const maestro = await place.open({ github: github.options, clock: clockAhead(3_600_000) });
    await maestro.deliverTickets();
    return maestro.show("job");
  }

  test("is opened with summary, decisions and cost, against the branch that the session began with", async () => {
    const { view, github, id } = await requested();
    expect(view.delivery).toMatchObject({
      branch: "maestro/job",
      remote: "origin",
      pullRequest: {
        status: "delivered",
        key: "acme/night-shift#1",
        url: expect.stringContaining("/pull/1"),
      },
      failures: [],
    });
    expect(github.pulls).toMatchObject([
      {
        title: "Change it.",
        head: { ref: "maestro/job", sha: view.delivery?.commits.at(-1) },
        base: { ref: "main" },
      },
    ]);
    const body = github.pulls[0]?.body ?? "";
    for (const part of [
      "In full.",
      "## Summary",
      "changed a.txt",
      "Which file",
      "## Cost",
      `Maestro-Session: ${id}`,
    ])
      expect(body).toContain(part);
    expect(body).not.toContain(githubAccount.token);
    expect(await (await new TeamPlace().open()).sessions()).toEqual([]);
  });

  test("that exists for the branch is not made again", async () => {
    const { maestro, id, github } = await requested();
    const again = await maestro.branch(id, { branch: "maestro/job", pullRequest: true });
    expect(again.pullRequest).toMatchObject({ key: "acme/night-shift#1" });
    expect(github.pulls).toHaveLength(1);
    expect(await maestro.tickets()).toEqual([]);
  });

  test.each([
    ["a server error", ["answer", "server-error"]],
    ["a search that fails", ["server-error"]],
    ["an answer that breaks off after it was made", ["answer", "cut-answer"]],
    ["a gateway that fails after it was made", ["answer", "gateway-error-after"]],
    ["a connection that is lost after it was made", ["answer", "drop-after"]],
  ])("survives %s: the outbox makes it later, and only one", async (_, script) => {
    const all = await requested(script);
    expect(all.result).toMatchObject({ status: "completed" });
    expect(all.view.delivery?.pullRequest).toMatchObject({ status: "pending", url: null });
    const view = await later(all);
    expect(view.delivery?.pullRequest).toMatchObject({ status: "delivered", key: "acme/night-shift#1" });
    expect(all.github.pulls).toHaveLength(1);
  });

  test("that another process made between the search and the POST is found", async () => {
    const source = repository();
    const remote = withRemote(source);
    const github = await LoopbackGithub.start();
    onTestFinished(() => github.server.close());
    github.commitOf = (branch) => remote.git("rev-parse", branch);
    github.server.witness.arrived = ({ method, path }) => {
      if (method !== "POST" || path !== pullsPath || github.pulls.length > 0) return;
      const html_url = `https://github.com/${githubAccount.repository}/pull/1`;
      const head = { ref: "maestro/job", sha: remote.git("rev-parse", "maestro/job") };
      github.pulls.push({
        number: 1,
        title: "",
        body: "",
        head,
        base: { ref: "main" },
        html_url,
        state: "open",
      });
    };
    const order = { branch: "maestro/{key}", pullRequest: true };
    const { view } = await run(source, { deliver: order }, changes(), { github: github.options });
    expect(view.delivery?.pullRequest).toMatchObject({ status: "delivered", key: "acme/night-shift#1" });
    expect(github.pulls).toHaveLength(1);
  });
});
