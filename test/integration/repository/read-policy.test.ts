import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const repositoryWithSecrets = (): TestRepository => {
  const repository = new TestRepository()
    .write("src/a.ts", "export const a = 1;\n")
    .write("secrets/plan.txt", "the plan\n")
    .write("secrets/deep/more.txt", "more\n")
    .write("private/notes.md", "notes\n")
    .write(".env.test", "TOKEN=canary-token-1\n");
  repository.commit();
  return repository;
};

type Work = (ctx: PersonaContext) => Promise<unknown>;

const two = (first: Work, second: Work, read: readonly string[]) =>
  defineTeam("two", {
    phases: [
      phase("build", {
        personas: [
          persona("limited", {
            policy: { read },
            run: async (ctx) => ({ summary: "done", outputs: { seen: (await first(ctx)) as never } }),
          }),
          persona("free", {
            run: async (ctx) => ({ summary: "done", outputs: { seen: (await second(ctx)) as never } }),
          }),
        ],
      }),
    ],
  });

test("a persona neither lists, reads nor finds what its policy forbids, and the files stay", async () => {
  const repository = repositoryWithSecrets();
  const seen: Record<string, unknown> = {};
  const team = two(
    async ({ workspace }) => {
      seen["list"] = workspace.list();
      seen["found"] = await workspace.search("plan");
      seen["read"] = await workspace.readText("secrets/plan.txt").catch((error: Error) => error.message);
      await workspace.write("src/a.ts", "export const a = 2;\n");
    },
    async ({ workspace }) => {
      seen["free"] = workspace.list();
    },
    ["!**/secrets/**", "!private/**"],
  );
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "x", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(seen["list"]).toEqual(["src/a.ts"]);
  expect(seen["found"]).toEqual([]);
  expect(seen["read"]).toMatch(/There is no file/);
  expect(seen["free"]).toEqual(["private/notes.md", "secrets/deep/more.txt", "secrets/plan.txt", "src/a.ts"]);
  await maestro.branch(session.id, { branch: "out" });
  expect(repository.git("diff", "--name-status", "HEAD", "out")).toBe("M\tsrc/a.ts");
});

test("what a persona writes where it may not read is put back, and the work continues", async () => {
  const repository = repositoryWithSecrets();
  const team = two(
    async ({ workspace }) => {
      await workspace.write("secrets/plan.txt", "mine\n");
      await workspace.write(".env.test", "TOKEN=mine\n");
      await workspace.write("src/b.ts", "b\n");
    },
    async () => undefined,
    ["src/**"],
  );
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "x", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect((await maestro.diff(session.id, { stat: true })).toString()).not.toMatch(/secrets|env/);
  await maestro.branch(session.id, { branch: "out" });
  expect(repository.git("diff", "--name-status", "HEAD", "out")).toBe("A\tsrc/b.ts");
});

test("a file that looks like a secret is let in only by its whole path, and only for that persona", async () => {
  const repository = repositoryWithSecrets();
  const seen: Record<string, unknown> = {};
  const look = (name: string): Work => {
    return async ({ workspace }) => {
      seen[name] = workspace.list().filter((path) => path.startsWith(".env"));
    };
  };
  const maestro = await new TeamPlace().open();
  const source = { git: repository.folder };
  const named = two(look("named"), look("other"), ["**", ".env.test"]);
  const session = await maestro.start(named, { brief: "x", source });
  await session.result();
  expect(seen).toEqual({ named: [".env.test"], other: [] });
  expect((await maestro.show(session.id)).source).toMatchObject({ restricted: [".env.test"], leftOut: [] });
  const byPattern = two(look("pattern"), look("other"), ["**", ".env*"]);
  await (await maestro.start(byPattern, { brief: "y", source })).result();
  expect(seen).toMatchObject({ pattern: [], other: [] });
});

test("a command's copy of the files leaves out what its persona may not read, and its changes delete nothing", async () => {
  const repository = repositoryWithSecrets();
  const team = defineTeam("command", {
    phases: [
      phase("build", {
        personas: [
          persona("agent", {
            command: ["sh", "-c", 'files=$(find . -type f | sort); echo "$files" > src/files.txt'],
            network: false,
            policy: { read: ["src/**"] },
          }),
        ],
      }),
    ],
  });
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "x", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  await maestro.branch(session.id, { branch: "out" });
  expect(repository.git("diff", "--name-status", "HEAD", "out")).toBe("A\tsrc/files.txt");
  expect(repository.git("show", "out:src/files.txt")).toBe("./src/a.ts");
});

test("files for checks only are in the copy of a check, masked in its output, and nowhere in the state", async () => {
  const repository = repositoryWithSecrets().write("untracked.env", 'PASSWORD="canary-password-2"\n');
  const seen: string[] = [];
  const team = defineTeam("checked", {
    source: { checksOnly: [".env.test", "untracked.env"] },
    phases: [
      phase("build", {
        personas: [
          persona("author", {
            run: async ({ workspace }) => {
              seen.push(...workspace.list());
              await workspace.write("src/b.ts", "b\n");
              return { summary: "done" };
            },
            maxAttempts: 1,
            contract: {
              checks: [
                { name: "has-env", run: ["grep", "-q", "^TOKEN=", ".env.test"] },
                {
                  name: "prints",
                  must: false,
                  run: [
                    "sh",
                    "-c",
                    "cat .env.test untracked.env; . ./untracked.env; echo $PASSWORD >&2; exit 3",
                  ],
                },
              ],
            },
          }),
        ],
      }),
    ],
  });
  const place = new TeamPlace();
  const maestro = await place.open();
  const session = await maestro.start(team, { brief: "x", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(seen).not.toContain(".env.test");
  const shown = await maestro.show(session.id);
  expect(shown.source).toMatchObject({ checksOnly: [".env.test", "untracked.env"] });
  await maestro.close();
  const found = spawnSync("grep", ["-rla", "canary-", place.stateDir], { encoding: "utf8" });
  expect(found).toMatchObject({ status: 1, stdout: "" });
  const checks = shown.phases[0]?.checks.flatMap(({ results }) => results) ?? [];
  expect(checks.map(({ name, status }) => [name, status])).toEqual([
    ["has-env", "passed"],
    ["prints", "failed"],
  ]);
  expect(JSON.stringify(checks)).toContain("[redacted]");
});

test("a name in checksOnly that the repository does not have is refused before anything is paid", async () => {
  const repository = repositoryWithSecrets();
  const maestro = await new TeamPlace().open();
  const team = two(
    async () => undefined,
    async () => undefined,
    ["**"],
  );
  const source = { git: repository.folder, checksOnly: [".env.missing"] };
  await expect(maestro.start(team, { brief: "x", source })).rejects.toThrow(
    /"\.env\.missing", which source\.checksOnly names, cannot be read .* it does not exist/,
  );
  expect(await maestro.sessions()).toEqual([]);
});
