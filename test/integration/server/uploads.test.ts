import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { ManualClock } from "../../../src/testing/index.ts";
import { paxRecord, tarGz, zip } from "../../support/archives.ts";
import { TestRepository } from "../repository/test-repository.ts";
import { newFolder, problemOf, startServer, type TestServer, token, until } from "./support.ts";

const changing = defineTeam("changing", {
  phases: [
    phase("change", {
      personas: [
        persona("editor", {
          run: async ({ workspace }: PersonaContext) => {
            await workspace.write("src/main.ts", "changed\n");
            return { summary: workspace.list().join(" ") };
          },
        }),
      ],
    }),
  ],
});

interface Uploaded {
  readonly id: string;
  readonly format: string;
  readonly files: number;
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
}

const send = (server: TestServer, body: Buffer, type = "application/gzip"): Promise<Response> =>
  server.request("/v1/uploads", {
    method: "POST",
    body: new Uint8Array(body),
    headers: { "content-type": type },
  });

async function uploaded(server: TestServer, body: Buffer): Promise<Uploaded> {
  const response = await send(server, body);
  const text = await response.text();
  expect(response.status, `for ${text}`).toBe(201);
  return JSON.parse(text) as Uploaded;
}

/** Nothing of a refused upload is left: no part, no record, no blob. */
function leftovers({ stateDir }: TestServer): readonly string[] {
  const below = (folder: string): string[] => {
    try {
      return readdirSync(join(stateDir, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name);
    } catch {
      return [];
    }
  };
  return [...below("uploads"), ...below("artifacts")];
}

const project = [
  { name: "./src/", type: "5" },
  { name: "./src/main.ts", content: "first\n" },
  { name: "./run.sh", content: "#!/bin/sh\n", mode: 0o755 },
  { name: "./empty" },
  { name: "./link", type: "2", target: "src/main.ts" },
  { name: "./.env", content: "KEY=sk-canary-secret\n" },
  { name: "./.env.example", content: "KEY=\n" },
  { name: "./keys.txt", content: `AKIA${"A".repeat(16)}\n` },
  { name: "./.git/config", content: "[core]\n" },
  { name: "./.git/HEAD", content: "ref: refs/heads/main\n" },
  { name: "./web/node_modules/x/index.js", content: "x\n" },
] as const;

describe("a session that begins with an upload", () => {
  test("works on its files, and its changes come out as archive, diff and apply", async () => {
    const server = await startServer({ teams: [changing] });
    const upload = await uploaded(server, tarGz(project));
    expect(upload).toMatchObject({ format: "tar.gz", files: 5 });
    expect(upload.leftOut).toEqual([
      { path: ".env", reason: "its name says that it holds secrets" },
      { path: ".git", reason: "it belongs to version control" },
      { path: "keys.txt", reason: "it holds an AWS key" },
      { path: "web/node_modules", reason: "it holds installed packages" },
    ]);
    const started = await server.post("/v1/sessions", {
      team: "changing",
      brief: "change it",
      upload: upload.id,
    });
    expect(started.status).toBe(201);
    const { id } = (await started.json()) as { id: string };
    server.drive();
    const view = await until(server, id, "completed");
    expect(view).toMatchObject({
      source: { upload: { id: upload.id, format: "tar.gz" }, leftOut: upload.leftOut },
    });
    const persona = view.phases[0]?.personas[0];
    expect(persona?.summary).toBe(".env.example empty link run.sh src/main.ts");

    const archive = await server.request(`/v1/sessions/${id}/archive?format=tar.gz`);
    const folder = await newFolder();
    execFileSync("tar", ["xz", "-C", folder], { input: Buffer.from(await archive.arrayBuffer()) });
    expect(readFileSync(join(folder, "src/main.ts"), "utf8")).toBe("changed\n");
    expect(readlinkSync(join(folder, "link"))).toBe("src/main.ts");
    expect(lstatSync(join(folder, "run.sh")).mode & 0o777).toBe(0o755);

    const patch = await (await server.request(`/v1/sessions/${id}/diff`)).text();
    expect(patch).toContain("-first\n+changed\n");
    expect(patch).not.toContain("run.sh");

    const target = await newFolder();
    execFileSync("tar", ["xz", "-C", target], {
      input: tarGz(project.filter(({ name }) => !name.includes(".git"))),
    });
    expect(await server.maestro.apply(id, { to: target })).toMatchObject({
      written: ["src/main.ts"],
      conflicts: [],
    });
    expect(readFileSync(join(target, ".env"), "utf8")).toContain("sk-canary-secret");
    await expect(server.maestro.apply(id)).rejects.toThrow(/uploaded archive, so it has no repository/);
  });

  test("has no branch without a repository, and one on top of a repository that is named", async () => {
    const server = await startServer({ teams: [changing] });
    const { id: upload } = await uploaded(server, tarGz(project));
    const session = await server.maestro.start(changing, { brief: "change it", upload });
    await session.result();
    await expect(server.maestro.branch(session.id, { branch: "x" })).rejects.toMatchObject({
      message: `Session ${session.id} began with an uploaded archive, so it has no repository.`,
      advice: expect.stringContaining("--repo"),
    });
    const repository = new TestRepository().write("src/main.ts", "first\n").write("other.txt", "stays\n");
    repository.commit();
    await server.maestro.branch(session.id, { branch: "from-upload", repo: repository.folder });
    expect(repository.git("show", "from-upload:src/main.ts")).toBe("changed");
    expect(repository.git("show", "from-upload:other.txt")).toBe("stays");
  });

  test("from a zip made by another program has names, modes and links", async () => {
    const server = await startServer({ teams: [changing] });
    const folder = await newFolder();
    writeFileSync(join(folder, "ümlaut ★.txt"), "x");
    writeFileSync(join(folder, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("run.sh", join(folder, "link"));
    execFileSync("zip", ["--quiet", "--symlinks", "-r", "files.zip", "."], { cwd: folder });
    const { id } = await uploaded(server, readFileSync(join(folder, "files.zip")));
    const session = await server.maestro.start(changing, { brief: "look", upload: id });
    await session.result();
    const files = await server.maestro.treeAt(session.id, "base");
    expect([...files].map(([path, { mode }]) => [path, mode])).toEqual([
      ["link", "link"],
      ["run.sh", "executable"],
      ["ümlaut ★.txt", "file"],
    ]);
  });

  test("from an archive of a session has the same files as that session", async () => {
    const server = await startServer({ teams: [changing] });
    const long = `${"deep folder/".repeat(12)}ümlaut ★.txt`;
    const pax = { name: "pax", type: "x", content: paxRecord("path", long) };
    const { id: upload } = await uploaded(
      server,
      tarGz([...project, pax, { name: "cut", content: "far\n" }]),
    );
    const session = await server.maestro.start(changing, { brief: "change", upload });
    await session.result();
    for (const format of ["zip", "tar.gz"]) {
      const archive = await server.request(`/v1/sessions/${session.id}/archive?format=${format}`);
      const again = await uploaded(server, Buffer.from(await archive.arrayBuffer()));
      const second = await server.maestro.start(changing, { brief: "change", upload: again.id });
      await second.result();
      const [began, ended] = [
        await server.maestro.treeAt(second.id, "base"),
        await server.maestro.treeAt(session.id, "head"),
      ];
      expect(Object.fromEntries(began)).toEqual(Object.fromEntries(ended));
    }
  });

  test("resumes with the same key and files, and refuses other files", async () => {
    const server = await startServer({ teams: [changing] });
    const first = await uploaded(server, tarGz(project));
    const same = await uploaded(server, tarGz(project));
    const other = await uploaded(server, tarGz([{ name: "other.txt", content: "x" }]));
    const body = { team: "changing", brief: "change it", key: "one" };
    expect((await server.post("/v1/sessions", { ...body, upload: first.id })).status).toBe(201);
    expect((await server.post("/v1/sessions", { ...body, upload: same.id })).status).toBe(200);
    expect((await server.post("/v1/sessions", { ...body, upload: other.id })).status).toBe(409);
  });

  test.each(["01k0000000000000000000000a", "../../etc/passwd", "x"])(
    "is refused for the unknown upload %s",
    async (upload) => {
      const server = await startServer({ teams: [changing] });
      const response = await server.post("/v1/sessions", { team: "changing", brief: "x", upload });
      expect(response.status).toBe(400);
      const problem = await problemOf(response);
      expect(problem.fields?.[0]?.field).toBe("upload");
      expect(problem.advice).toContain("Send the archive again");
    },
  );

  test("cannot have a repository as well", async () => {
    const server = await startServer({ teams: [changing], repoRoots: [await newFolder()] });
    const { id: upload } = await uploaded(server, tarGz(project));
    const source = { git: "." };
    const response = await server.post("/v1/sessions", { team: "changing", brief: "x", upload, source });
    expect(response.status).toBe(400);
  });
});

describe("an upload that no session uses", () => {
  test("expires after twelve hours, and prune removes its record and its files", async () => {
    // Ahead of the clock of this machine: ids never go back, and requests have some of their own.
    const clock = new ManualClock(Date.now() + 3_600_000);
    const server = await startServer({ teams: [changing], clock });
    const { id: upload } = await uploaded(server, tarGz(project));
    expect(await server.maestro.uploads()).toMatchObject([{ id: upload, isPart: false }]);
    expect(await server.maestro.prune({})).toMatchObject({ uploads: 0 });
    await clock.advance(12 * 3_600_000);
    const late = await server.post("/v1/sessions", { team: "changing", brief: "x", upload });
    expect(late.status).toBe(400);
    expect(await server.maestro.prune({ dryRun: true })).toMatchObject({ uploads: 1 });
    expect(await server.maestro.prune({})).toMatchObject({ uploads: 1 });
    expect(await server.maestro.uploads()).toEqual([]);
  });
});

test.each(["tar.gz", "zip"] as const)(
  "the %s of a session on a repository with links that lead out can be uploaded: these are left out",
  async (format) => {
    const repository = new TestRepository().write("src/main.ts", "first\n");
    symlinkSync("/etc/passwd", join(repository.folder, "absolute"));
    symlinkSync("../../other", join(repository.folder, "above"));
    symlinkSync("src/main.ts", join(repository.folder, "inside"));
    repository.commit();
    const server = await startServer({ teams: [changing] });
    const session = await server.maestro.start(changing, {
      brief: "change it",
      source: { git: repository.folder },
    });
    await session.result();
    const archive = await server.request(`/v1/sessions/${session.id}/archive?format=${format}`);
    const upload = await uploaded(server, Buffer.from(await archive.arrayBuffer()));
    expect(upload).toMatchObject({ format, files: 2 });
    expect(upload.leftOut).toEqual([
      { path: "above", reason: "it is a link that leads out of the archive" },
      { path: "absolute", reason: "it is a link that leads out of the archive" },
    ]);
  },
);

const tar = (...entries: Parameters<typeof tarGz>[0]) =>
  tarGz([{ name: "good.txt", content: "good\n" }, ...entries]);
const file = { content: "x" };
const zipped = (...entries: Parameters<typeof zip>[0]) =>
  zip([{ name: "good.txt", content: "good\n" }, ...entries]);

describe("a hostile archive is refused with its reason and leaves nothing:", () => {
  test.each([
    ["a tar path that leads out", tar({ name: "../out.txt", ...file }), /"..\/out.txt" leads out/],
    ["a tar path that leads out in its middle", tar({ name: "a/../../out", ...file }), /leads out/],
    ["a tar path that leads out with backslashes", tar({ name: "a\\..\\..\\out", ...file }), /leads out/],
    ["an absolute tar path", tar({ name: "/etc/passwd", ...file }), /absolute/],
    ["a drive letter", tar({ name: "C:/windows/x", ...file }), /absolute/],
    [
      "a long name that leads out",
      tar({ name: "l", type: "L", content: "../../out\0" }, { name: "x", ...file }),
      /leads out/,
    ],
    [
      "a pax path that leads out",
      tar({ name: "p", type: "x", content: paxRecord("path", "../x") }, { name: "x", ...file }),
      /leads out/,
    ],
    [
      "a pax path for all files",
      tar({ name: "p", type: "g", content: paxRecord("path", "x") }, { name: "y", ...file }),
      /one name or size to all/,
    ],
    [
      "a damaged pax record",
      tar({ name: "p", type: "x", content: "99 path=x\n" }, { name: "y", ...file }),
      /extended header in it is damaged/,
    ],
    [
      "an extended header that is too large",
      tar({ name: "p", type: "x", content: "x".repeat(70_000) }),
      /extended header in it is too large/,
    ],
    [
      "a file behind a link that leads out",
      tar({ name: "d", type: "2", target: "/etc" }, { name: "d/passwd", ...file }),
      /"d" is a file or link in it, and also a folder/,
    ],
    [
      "a file behind a link",
      tar({ name: "d", type: "2", target: "." }, { name: "d/x", ...file }),
      /"d" is a file or link in it, and also a folder/,
    ],
    ["a hard link", tar({ name: "hard", type: "1", target: "good.txt" }), /hard link/],
    ["a device", tar({ name: "dev", type: "3" }), /device/],
    ["a block device", tar({ name: "dev", type: "4" }), /device/],
    ["a pipe", tar({ name: "pipe", type: "6" }), /pipe/],
    ["a sparse file", tar({ name: "s", type: "S" }), /not supported/],
    ["two files of one name", tar({ name: "good.txt", ...file }), /"good.txt" is in it twice/],
    ["two secrets of one name", tar({ name: ".env", ...file }, { name: "./.env", ...file }), /twice/],
    ["names that differ in case", tar({ name: "GOOD.txt", ...file }), /only in case/],
    ["a folder and a file of one name", tar({ name: "good.txt/x", ...file }), /also a folder/],
    ["a wrong checksum", tar({ name: "x", ...file, checksum: 1 }), /damaged/],
    ["a size beyond its end", tar({ name: "x", size: 1_000_000 }), /ends in the middle/],
    ["no end", tarGz([{ name: "x", ...file }], { end: false }), /ends in the middle/],
    ["half a gzip", tar({ name: "x", ...file }).subarray(0, 60), /ends in the middle|gzip/],
    ["a gzip with changed bytes", flipped(tar({ name: "x", ...file }), -6), /gzip/],
    ["a gzip of something else", gzipSync("not a tar at all".repeat(100)), /not a tar file/],
    ["no archive", Buffer.from("hello"), /neither a tar.gz nor a zip/],
    ["nothing", Buffer.alloc(0), /no body|neither/],
    ["only secrets", tarGz([{ name: ".env", ...file }]), /no file that a session can use/],
    ["a zip path that leads out", zipped({ name: "../out.txt", ...file }), /leads out/],
    ["an absolute zip path", zipped({ name: "/etc/passwd", ...file }), /absolute/],
    ["a zip path of Windows that leads out", zipped({ name: "a\\..\\..\\x", ...file, host: 0 }), /leads out/],
    ["a zip device", zipped({ name: "dev", mode: 0o020644 }), /device/],
    ["an encrypted zip", zipped({ name: "x", ...file, flags: 0x0801 }), /encrypted/],
    ["an unknown compression", zipped({ name: "x", ...file, method: 12 }), /compressed in a way/],
    [
      "a zip that unpacks to more than it says",
      zipped({ name: "x", content: "x".repeat(100_000), size: 10 }),
      /another size/,
    ],
    ["a zip that unpacks to less than it says", zipped({ name: "x", ...file, size: 10 }), /another size/],
    ["a zip with a wrong checksum", zipped({ name: "x", ...file, crc: 1 }), /"x" is damaged/],
    [
      "a zip with two different headers",
      zipped({ name: "x", ...file, localName: "y" }),
      /two different headers/,
    ],
    ["a zip whose files overlap", zipped({ name: "x", ...file, offset: 0 }), /overlap/],
    ["a zip with two files of one name", zipped({ name: "good.txt", ...file }), /twice/],
    [
      "a zip that lists more than it has",
      zip([{ name: "x", ...file }], { count: 2 }),
      /directory is damaged/,
    ],
    [
      "a zip that lists less than it has",
      zip([{ name: "x", ...file }, { name: "y" }], { count: 1 }),
      /does not list all/,
    ],
    ["half a zip", zipped({ name: "x", ...file }).subarray(0, 80), /no directory/],
    [
      "a zip with bytes before it",
      Buffer.concat([Buffer.from("PK\x03\x04"), zipped({ name: "x", ...file })]),
      /not where it says/,
    ],
  ] as const)("%s", async (_title, archive, reason) => {
    const server = await startServer({ teams: [changing] });
    const response = await send(server, archive);
    expect(response.status).toBe(400);
    const { detail, advice, code } = await problemOf(response);
    expect(detail).toMatch(reason);
    expect(code).toBe("INPUT_INVALID");
    expect(advice).not.toBeNull();
    expect(leftovers(server)).toEqual([]);
  });

  test("names that a workspace cannot hold are left out, and the rest is taken", async () => {
    const server = await startServer({ teams: [changing] });
    const control = { name: "a\nb", ...file };
    const latin = { name: Buffer.from([0x66, 0xfc, 0x72]), ...file };
    const { leftOut, files } = await uploaded(server, tar(control, latin));
    expect(files).toBe(1);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      "its name cannot be in a workspace",
      "its name is not UTF-8",
    ]);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const index = copy.length + at;
  copy[index] = (copy[index] ?? 0) ^ 0xff;
  return copy;
}

describe("the route of uploads", () => {
  test.each(["application/json", "text/plain", "multipart/form-data; boundary=x"])(
    "refuses a body of type %s",
    async (type) => {
      const server = await startServer();
      const response = await send(server, tarGz(project), type);
      expect(response.status).toBe(415);
      expect((await problemOf(response)).advice).toContain("application/gzip");
    },
  );

  test("refuses a declared size over the limit before the body arrives, and a stranger before anything", async () => {
    const server = await startServer();
    const { port } = await server.listen();
    const ask = (authorization: string, length: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = httpRequest({
          port,
          method: "POST",
          path: "/v1/uploads",
          headers: { authorization, "content-type": "application/gzip", "content-length": length },
        });
        asked.on("response", ({ statusCode }) => {
          resolve(statusCode);
          asked.destroy();
        });
        asked.on("error", reject);
        // The headers alone: an answer proves that the body was not awaited.
        asked.flushHeaders();
      });
    expect(await ask(`Bearer ${token}`, 600 * 1024 * 1024)).toBe(413);
    expect(await ask("Bearer wrong", 100)).toBe(401);
    expect(leftovers(server)).toEqual([]);
  });

  test("keeps nothing of an upload that breaks off", async () => {
    const server = await startServer();
    const { port } = await server.listen();
    const whole = tarGz([{ name: "x", content: Buffer.alloc(300_000, 7) }]);
    await new Promise<void>((resolve) => {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/gzip",
        "content-length": whole.length * 2,
      };
      const asked = httpRequest({ port, method: "POST", path: "/v1/uploads", headers });
      asked.on("error", () => resolve());
      asked.write(whole, () => asked.destroy());
    });
    await expect.poll(() => leftovers(server), { timeout: 10_000 }).toEqual([]);
    const response = await server.request("/v1/status");
    expect(response.status).toBe(200);
  });
});
