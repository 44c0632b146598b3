import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import type { ServerStatus } from "../../../src/server/schemas/server.ts";
import { TestRepository } from "../repository/test-repository.ts";
import { newFolder, problemOf, startServer, type TestServer, until } from "./support.ts";

const reading = defineTeam("reading", {
  phases: [
    phase("plan", { personas: [persona("planner", { run: async () => ({ summary: "planned" }) })] }),
    phase("read", {
      personas: [
        persona("reader", {
          run: async ({ workspace }: PersonaContext) => ({ summary: workspace.list().join(" ") }),
        }),
      ],
    }),
  ],
});

/** A repository inside a folder of repositories. */
async function rooted(): Promise<{ root: string; repository: TestRepository }> {
  const root = await newFolder();
  const repository = new TestRepository().write("src/a.ts", "a\n").write("docs/b.md", "b\n");
  repository.write(".env", "SECRET=canary\n").commit();
  mkdirSync(join(root, "work"));
  renameSync(repository.folder, join(root, "work/app"));
  Object.assign(repository, { folder: join(root, "work/app") });
  return { root, repository };
}

const startWith = (server: TestServer, source: unknown, more: object = {}): Promise<Response> =>
  server.post("/v1/sessions", { team: "reading", brief: "read it", source, ...more });

describe("a session that begins with a repository", () => {
  test.each(["work/app", "absolute", "a link inside"])(
    "is started by %s below an allowed folder",
    async (how) => {
      const { root, repository } = await rooted();
      symlinkSync("work/app", join(root, "alias"));
      const git = { absolute: repository.folder, "a link inside": "alias" }[how] ?? how;
      repository.write("src/a.ts", "changed\n");
      const server = await startServer({ teams: [reading], repoRoots: [root] });
      const response = await startWith(server, { git, exclude: ["docs/**"] });
      expect(response.status, await response.clone().text()).toBe(201);
      const { id } = (await response.json()) as { id: string };
      server.drive();
      const view = await until(server, id, "completed");
      expect(view).toMatchObject({
        source: {
          git: repository.folder,
          ref: "main",
          commit: repository.git("rev-parse", "HEAD"),
          dirty: ["src/a.ts"],
          leftOut: [{ path: ".env", reason: "its name says that it holds secrets" }],
        },
      });
      expect(view.phases[1]?.personas[0]?.summary).toBe("src/a.ts");
    },
  );

  test("offers the allowed folders in the status", async () => {
    const { root } = await rooted();
    const server = await startServer({ teams: [reading], repoRoots: [root, root] });
    expect((await server.get<ServerStatus>("/v1/status")).repoRoots).toEqual([root]);
  });

  test("is refused by a server without --repo-root, and the answer says what to do", async () => {
    const { repository } = await rooted();
    const server = await startServer({ teams: [reading] });
    const response = await startWith(server, { git: repository.folder });
    expect(response.status).toBe(403);
    const { code, advice } = await problemOf(response);
    expect(code).toBe("REPOSITORY_NOT_ALLOWED");
    expect(advice).toContain("--repo-root");
    expect(advice).toContain("/v1/uploads");
  });

  test("is not started by a server whose --repo-root is no folder", async () => {
    const missing = join(await newFolder(), "missing");
    await expect(startServer({ repoRoots: [missing] })).rejects.toThrow(/--repo-root names .* not a folder/);
  });

  const outside: readonly (readonly [string, (root: string, repository: TestRepository) => string])[] = [
    ["a path above", () => "../.."],
    ["a path that leads out and back in", (root) => join(root, "..", "etc")],
    ["an absolute path elsewhere", () => "/etc"],
    ["a path that does not exist elsewhere", () => "/nowhere/at/all"],
    ["a folder whose name begins like the allowed one", (root) => `${root}-other`],
    ["a link that leads out", (root) => (symlinkSync("/etc", join(root, "out")), "out")],
    ["a path behind a link that leads out", (root) => (symlinkSync("/", join(root, "all")), "all/etc")],
    ["a path with a zero byte", () => "work/app\0"],
  ];
  test.each(outside)("is refused for %s, with one answer for all of them", async (_title, pathOf) => {
    const { root, repository } = await rooted();
    const server = await startServer({ teams: [reading], repoRoots: [root] });
    const response = await startWith(server, { git: pathOf(root, repository) });
    expect(response.status).toBe(403);
    const { detail, code } = await problemOf(response);
    expect(code).toBe("REPOSITORY_NOT_ALLOWED");
    expect(detail).toContain("that this server may use");
    expect(await server.maestro.sessions()).toEqual([]);
  });

  test.each([
    "https://example.org/x.git",
    "ssh://git@example.org/x.git",
    "git@example.org:x.git",
    "file:///etc",
    "ext::sh -c touch% /tmp/x",
  ])("is refused for the address %s", async (git) => {
    const { root } = await rooted();
    const server = await startServer({ teams: [reading], repoRoots: [root] });
    const response = await startWith(server, { git });
    expect(response.status).toBe(403);
  });

  test("is refused where its .git is a file that names a folder outside", async () => {
    const { root } = await rooted();
    const other = new TestRepository().write("private.txt", "private\n");
    other.commit();
    mkdirSync(join(root, "fake"));
    writeFileSync(join(root, "fake/.git"), `gitdir: ${join(other.folder, ".git")}\n`);
    const server = await startServer({ teams: [reading], repoRoots: [root] });
    const response = await startWith(server, { git: "fake", ref: "main" });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).detail).toContain("outside the allowed folders");
  });

  test("is refused where it borrows objects from a repository outside", async () => {
    const { root, repository } = await rooted();
    const other = new TestRepository().write("private.txt", "private\n");
    const commit = other.commit();
    const alternates = join(repository.folder, ".git/objects/info/alternates");
    mkdirSync(dirname(alternates), { recursive: true });
    writeFileSync(alternates, `${join(other.folder, ".git/objects")}\n`);
    const server = await startServer({ teams: [reading], repoRoots: [root] });
    const response = await startWith(server, { git: "work/app", ref: commit });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).detail).toContain("outside the allowed folders");
  });

  test.each([
    [{}, "source.git"],
    [{ git: "" }, "source.git"],
    [{ git: "x".repeat(5_000) }, "source.git"],
    [{ git: "work/app", ref: 7 }, "source.ref"],
    [{ git: "work/app", include: Array.from({ length: 101 }, () => "*") }, "source.include"],
    [{ git: "work/app", within: ["/"] }, "source.within"],
    ["work/app", "source"],
  ])("is refused for the source %j, at its field", async (source, field) => {
    const { root } = await rooted();
    const server = await startServer({ teams: [reading], repoRoots: [root] });
    const response = await startWith(server, source);
    expect(response.status).toBe(400);
    expect((await problemOf(response)).fields?.map((each) => each.field)).toContain(field);
  });

  test("is refused for a folder that is no repository, a wrong ref and one without commits, and leaves no session", async () => {
    const { root, repository } = await rooted();
    mkdirSync(join(root, "plain"));
    const server = await startServer({ teams: [reading], repoRoots: [root] });
    expect((await problemOf(await startWith(server, { git: "plain" }))).detail).toContain(
      "not a git repository",
    );
    expect((await problemOf(await startWith(server, { git: "work/app", ref: "--help" }))).detail).toContain(
      "has no commit",
    );
    rmSync(join(repository.folder, ".git/refs/heads/main"));
    expect((await problemOf(await startWith(server, { git: "work/app" }))).detail).toContain("no commit");
    expect(await server.maestro.sessions()).toEqual([]);
  });
});

describe("given phases over HTTP", () => {
  test("are taken with their files, also bytes that are no text", async () => {
    const server = await startServer({ teams: [reading] });
    const bytes = Buffer.from([0, 255, 1, 254]);
    const given = {
      plan: {
        summary: "planned elsewhere",
        outputs: { planner: { steps: 3 } },
        files: { "docs/plan.md": "# Plan\n", "logo.bin": { base64: bytes.toString("base64") } },
      },
    };
    const response = await server.post("/v1/sessions", { team: "reading", brief: "read it", given });
    expect(response.status, await response.clone().text()).toBe(201);
    const { id } = (await response.json()) as { id: string };
    server.drive();
    const view = await until(server, id, "completed");
    expect(view.phases[0]?.personas[0]?.summary).toBe("planned elsewhere");
    expect(view.phases[1]?.personas[0]?.summary).toBe("docs/plan.md logo.bin");
    const logo = view.artifacts.find(({ path }) => path === "logo.bin");
    const found = await server.request(`/v1/sessions/${id}/artifacts/${logo?.sha256}`);
    expect(Buffer.from(await found.arrayBuffer())).toEqual(bytes);
  });

  test.each([
    [{ nowhere: {} }, "given"],
    [{ plan: { files: { "a.txt": 7 } } }, "given.plan.files.a.txt"],
    [{ plan: { files: { "a.txt": { base64: "%%%" } } } }, "given.plan.files.a.txt"],
    [{ plan: { unknown: true } }, "given.plan.unknown"],
  ])("are refused as %j, at their field", async (given, field) => {
    const server = await startServer({ teams: [reading] });
    const response = await server.post("/v1/sessions", { team: "reading", brief: "x", given });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).fields?.[0]?.field).toContain(field);
  });

  test.each(["../out.txt", "/etc/passwd", ".git/config", "a\u0000b"])(
    "are refused with the path %j",
    async (path) => {
      const server = await startServer({ teams: [reading] });
      const given = { plan: { files: { [path]: "x" } } };
      const response = await server.post("/v1/sessions", { team: "reading", brief: "x", given });
      expect(response.status).toBe(400);
      expect(await server.maestro.sessions()).toEqual([]);
    },
  );
});
