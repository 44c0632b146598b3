import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import type { FileChanges } from "../../../src/server/schemas/inside.ts";
import { TestRepository } from "../repository/test-repository.ts";
import { newFolder, problemOf, start, startServer, type TestServer, until } from "./support.ts";

const longName = `${"deep folder/".repeat(12)}ümlaut ★.txt`;

/** Changes, adds, deletes and moves files in two phases; the first one needs two attempts. */
const editors = defineTeam("editors", {
  phases: [
    phase("edit", {
      personas: [
        persona("editor", {
          maxAttempts: 2,
          run: async ({ workspace, step }: PersonaContext) => {
            await step("edit", async () => {
              await workspace.write("src/main.ts", "one\ntwo changed\nthree\nfour\n");
              await workspace.remove("old.txt");
              await workspace.write(".gitignore", "dist\n");
            });
            return { summary: "edited" };
          },
        }),
      ],
    }),
    phase("move", {
      personas: [
        persona("mover", {
          run: async ({ workspace }: PersonaContext) => {
            const text = await workspace.readText("docs/guide.md");
            await workspace.remove("docs/guide.md");
            await workspace.write("docs/start.md", `${text}One more line.\n`);
            return { summary: "moved" };
          },
        }),
      ],
    }),
  ],
});

function repositoryOfKinds(): TestRepository {
  const repository = new TestRepository();
  repository
    .write("src/main.ts", "one\ntwo\nthree\n")
    .write("old.txt", "old\n")
    .write("run.sh", "#!/bin/sh\n", 0o755)
    .write("empty", "")
    .write("binary.bin", Buffer.from([0, 1, 2, 255, 254, 0]))
    .write("docs/guide.md", "A line of the guide.\n".repeat(20))
    .write(longName, "far away\n")
    .link("link", "src/main.ts");
  repository.commit();
  return repository;
}

async function edited(): Promise<{ server: TestServer; repository: TestRepository; id: string }> {
  const repository = repositoryOfKinds();
  const server = await startServer({ teams: [editors] });
  const session = await server.maestro.start(editors, {
    brief: "change things",
    key: "the change/of today",
    source: { git: repository.folder },
  });
  expect(await session.result()).toMatchObject({ status: "completed" });
  return { server, repository, id: session.id };
}

const bytesOf = async (response: Response): Promise<Buffer> => {
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

/** As a person unpacks it, with tools that are not ours. */
async function unpacked(archive: Buffer, format: string): Promise<string> {
  const folder = await newFolder();
  const file = join(folder, `archive.${format}`);
  const into = join(folder, "files");
  mkdirSync(into);
  writeFileSync(file, archive);
  const zip = ["-c", unzipWithModes, file, into];
  if (format === "zip") execFileSync("python3", zip);
  else execFileSync("tar", ["--extract", "--gzip", "--file", file, "--directory", into]);
  return into;
}

const unzipWithModes = `
import os, stat, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    for info in archive.infolist():
        path = os.path.join(sys.argv[2], info.filename)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = info.external_attr >> 16
        if stat.S_ISLNK(mode): os.symlink(archive.read(info), path)
        else:
            open(path, "wb").write(archive.read(info))
            os.chmod(path, stat.S_IMODE(mode))
`;

describe("the archive of a session", () => {
  test.each(["zip", "tar.gz"])("as %s unpacks with every name, mode, link and byte", async (format) => {
    const { server, repository, id } = await edited();
    const response = await server.request(`/v1/sessions/${id}/archive?format=${format}`);
    const name = `attachment; filename="the-change-of-today.${format}"`;
    expect(response.headers.get("content-disposition")).toBe(name);
    expect(response.headers.get("content-type")).toBe(
      format === "zip" ? "application/zip" : "application/gzip",
    );
    const folder = await unpacked(await bytesOf(response), format);
    const read = (path: string) => readFileSync(join(folder, path));
    expect(read("src/main.ts").toString()).toBe("one\ntwo changed\nthree\nfour\n");
    expect(read(".gitignore").toString()).toBe("dist\n");
    expect(read("binary.bin")).toEqual(readFileSync(join(repository.folder, "binary.bin")));
    expect(read("empty")).toHaveLength(0);
    expect(read(longName).toString()).toBe("far away\n");
    expect(readlinkSync(join(folder, "link"))).toBe("src/main.ts");
    expect(lstatSync(join(folder, "run.sh")).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(folder, "src/main.ts")).mode & 0o777).toBe(0o644);
    expect(() => read("old.txt")).toThrow(/ENOENT/);
  });

  test.each(["zip", "tar.gz"])("as %s has the same bytes each time", async (format) => {
    const { server, id } = await edited();
    const get = async () => bytesOf(await server.request(`/v1/sessions/${id}/archive?format=${format}`));
    expect((await get()).equals(await get())).toBe(true);
  });

  test.each([
    ["base", "one\ntwo\nthree\n", ["old.txt", "docs/guide.md"]],
    ["edit", "one\ntwo changed\nthree\nfour\n", [".gitignore", "docs/guide.md"]],
    ["phase:move@1", "one\ntwo changed\nthree\nfour\n", ["docs/start.md"]],
    ["attempt:1", "one\ntwo changed\nthree\nfour\n", [".gitignore", "docs/guide.md"]],
    ["attempt:edit/editor/r1a1", "one\ntwo changed\nthree\nfour\n", ["docs/guide.md"]],
  ])("at %s has the files of that tree", async (at, main, others) => {
    const { server, id } = await edited();
    const path = `/v1/sessions/${id}/archive?at=${encodeURIComponent(at)}`;
    const folder = await unpacked(await bytesOf(await server.request(path)), "tar.gz");
    expect(readFileSync(join(folder, "src/main.ts"), "utf8")).toBe(main);
    for (const other of others) expect(lstatSync(join(folder, other)).isFile()).toBe(true);
  });

  test.each([
    ["at=nowhere", 400, "nowhere"],
    ["at=attempt:99", 400, "attempt:99"],
    ["at=phase:edit@7", 400, "Revision 7 of phase edit"],
    ["at=..%2F..%2Fetc", 400, "../../etc"],
    ["format=rar", 400, "format"],
  ])("is refused with %s, and the answer says why", async (query, status, named) => {
    const { server, id } = await edited();
    const response = await server.request(`/v1/sessions/${id}/archive?${query}`);
    expect(response.status).toBe(status);
    expect((await problemOf(response)).detail).toContain(named);
  });
});

describe("the difference of a session", () => {
  test("is a patch that git applies to the base", async () => {
    const { server, repository, id } = await edited();
    const response = await server.request(`/v1/sessions/${id}/diff`);
    expect(response.headers.get("content-type")).toBe("text/x-diff");
    execFileSync("git", ["apply"], { cwd: repository.folder, input: await bytesOf(response) });
    expect(readFileSync(join(repository.folder, "src/main.ts"), "utf8")).toContain("two changed");
    expect(readFileSync(join(repository.folder, "docs/start.md"), "utf8")).toContain("One more line.");
    expect(() => lstatSync(join(repository.folder, "old.txt"))).toThrow(/ENOENT/);
  });

  const changesOf = async (server: TestServer, path: string): Promise<FileChanges> => {
    const response = await server.request(path, { headers: { accept: "application/json" } });
    expect(response.status).toBe(200);
    return (await response.json()) as FileChanges;
  };

  test("as JSON lists the changed files with their status and counts of lines", async () => {
    const { server, id } = await edited();
    const { files, more } = await changesOf(server, `/v1/sessions/${id}/diff`);
    expect(more).toBe(0);
    expect(
      files.map(({ path, from, status, addedLines, removedLines }) => ({
        path,
        from,
        status,
        addedLines,
        removedLines,
      })),
    ).toEqual([
      { path: ".gitignore", from: null, status: "added", addedLines: 1, removedLines: 0 },
      { path: "docs/start.md", from: "docs/guide.md", status: "renamed", addedLines: 1, removedLines: 0 },
      { path: "old.txt", from: null, status: "deleted", addedLines: 0, removedLines: 1 },
      { path: "src/main.ts", from: null, status: "changed", addedLines: 2, removedLines: 1 },
    ]);
    const main = files.find(({ path }) => path === "src/main.ts");
    const content = await server.request(`/v1/sessions/${id}/artifacts/${main?.before}`);
    expect((await bytesOf(content)).toString()).toBe("one\ntwo\nthree\n");
  });

  test("against another session has what differs between the two, of the whole or of one phase", async () => {
    const { server, id } = await edited();
    const edits = { edit: { files: { ".gitignore": "dist\nout\n" } } };
    const fork = await server.maestro.fork(id, { at: "edit", edits });
    await (await server.maestro.resume(fork.id)).result();
    const whole = await changesOf(server, `/v1/sessions/${fork.id}/diff?against=${id}`);
    expect(whole.files).toMatchObject([
      { path: ".gitignore", status: "changed", addedLines: 1, removedLines: 0 },
    ]);
    const patch = await server.request(`/v1/sessions/${fork.id}/diff?phase=edit&against=${id}`);
    expect((await bytesOf(patch)).toString()).toContain("\n dist\n+out\n");
  });

  test.each([
    ["against=nothing", 404, "nothing"],
    ["agianst=x", 400, "agianst"],
    ["persona=editor&against=", 400, "against"],
  ])("with ?%s is refused, and the answer names the field", async (query, status, named) => {
    const { server, id } = await edited();
    const response = await server.request(`/v1/sessions/${id}/diff?${query}`);
    expect(response.status).toBe(status);
    expect(JSON.stringify(await problemOf(response))).toContain(named);
  });

  test("of one phase or persona has only its changes", async () => {
    const { server, id } = await edited();
    const paths = async (query: string) =>
      (await changesOf(server, `/v1/sessions/${id}/diff?${query}`)).files.map(({ path }) => path);
    expect(await paths("phase=move")).toEqual(["docs/start.md"]);
    expect(await paths("persona=editor&attempt=1")).toEqual([".gitignore", "old.txt", "src/main.ts"]);
  });

  test.each([
    ["phase=nothing", "nothing"],
    ["attempt=1", "attempt"],
    ["persona=editor&attempt=0", "attempt"],
  ])("with %s is refused", async (query, named) => {
    const { server, id } = await edited();
    const response = await server.request(`/v1/sessions/${id}/diff?${query}`);
    expect(response.status).toBe(400);
    expect((await problemOf(response)).detail).toContain(named);
  });

  test("of a session without files is empty", async () => {
    const server = await startServer();
    const { id } = await start(server);
    server.drive();
    await until(server, id, "completed");
    expect((await bytesOf(await server.request(`/v1/sessions/${id}/diff`))).length).toBe(0);
    expect(await changesOf(server, `/v1/sessions/${id}/diff`)).toEqual({ files: [], more: 0 });
  });
});
