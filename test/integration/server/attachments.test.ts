import { expect, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { tarGz } from "../../support/archives.ts";
import { png } from "../../support/attachments.ts";
import { problemOf, quickTeam, startServer, type TestServer } from "./support.ts";

const image = png(32, 32);

const send = (server: TestServer, name: string | undefined, body: Buffer, type = "image/png") =>
  server.request(`/v1/uploads${name === undefined ? "" : `?name=${encodeURIComponent(name)}`}`, {
    method: "POST",
    body: new Uint8Array(body),
    headers: { "content-type": type },
  });

interface Uploaded {
  readonly id: string;
  readonly mediaType: string;
  readonly sha256: string;
}

async function uploaded(server: TestServer, name: string, body: Buffer, type?: string): Promise<Uploaded> {
  const response = await send(server, name, body, type);
  expect(response.status).toBe(201);
  return (await response.json()) as Uploaded;
}

const start = (server: TestServer, more: object) =>
  server.post("/v1/sessions", { team: "quick", brief: "b", ...more });

test("uploaded attachments belong to the session, which shows and serves them", async () => {
  const server = await startServer();
  const plan = await uploaded(server, "plan.png", image);
  const notes = await uploaded(server, "notes.txt", Buffer.from("Forty books.\n"), "text/plain");
  expect(plan.mediaType).toBe("image/png");
  const response = await start(server, { attachments: [plan.id, notes.id] });
  expect(response.status).toBe(201);
  const { id } = (await response.json()) as { id: string };
  const view = await server.get<{ attachments: readonly object[] }>(`/v1/sessions/${id}`);
  expect(view.attachments).toEqual([
    { name: "plan.png", mediaType: "image/png", sha256: plan.sha256, bytes: image.length },
    { name: "notes.txt", mediaType: "text/plain", sha256: notes.sha256, bytes: 13 },
  ]);
  const bytes = await server.request(`/v1/sessions/${id}/artifacts/${plan.sha256}`);
  expect(Buffer.from(await bytes.arrayBuffer())).toEqual(image);
});

test("an image is taken for what it is, whatever type its request names", async () => {
  const server = await startServer();
  expect((await uploaded(server, "plan.txt", image, "text/plain")).mediaType).toBe("image/png");
});

test.each([
  ["archive.bin", Buffer.from([0, 1, 2, 255]), "application/octet-stream", 400, /neither a PNG/],
  ["a/b.png", image, "image/png", 400, /its name must have/],
  ["large.png", Buffer.concat([image, Buffer.alloc(4_000_000)]), "image/png", 400, /the limit of an image/],
  ["page.html", Buffer.from("<p>"), "text/html", 415, /are not read/],
])("the upload of %s is refused", async (name, body, type, status, reason) => {
  const server = await startServer();
  const response = await send(server, name, body, type);
  expect(response.status).toBe(status);
  expect((await problemOf(response)).detail).toMatch(reason);
});

test("an id that is no attachment is refused at its field, and no session is created", async () => {
  const server = await startServer();
  const archive = await server.request("/v1/uploads", {
    method: "POST",
    body: new Uint8Array(tarGz([{ name: "a.txt", content: "a" }])),
    headers: { "content-type": "application/gzip" },
  });
  const { id } = (await archive.json()) as { id: string };
  const plan = await uploaded(server, "plan.png", image);
  const refusals = [
    [{ attachments: ["nothing"] }, /There is no upload "nothing"/],
    [{ attachments: [id] }, /is an archive, not the attachment of a brief/],
    [{ attachments: [plan.id, plan.id] }, /another attachment has the same name/],
    [{ upload: plan.id }, /is the attachment of a brief, not an archive/],
  ] as const;
  for (const [more, reason] of refusals) {
    const response = await start(server, more);
    const problem = await problemOf(response);
    expect(response.status, problem.detail).toBe(400);
    expect(problem.fields).toMatchObject([
      { field: "upload" in more ? "upload" : "attachments", message: expect.stringMatching(reason) },
    ]);
  }
  expect(await server.get("/v1/sessions")).toMatchObject({ sessions: [] });
});

test("an image for a model that is not known to take images is refused at its field", async () => {
  vi.stubEnv("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:1/v1");
  const blind = defineTeam("blind", {
    model: "openai-compatible/llama-3.3-70b",
    phases: [phase("only", { personas: [persona("reader", { instructions: "Read." })] })],
  });
  const server = await startServer({ teams: [quickTeam, blind] });
  const plan = await uploaded(server, "plan.png", image);
  const response = await start(server, { team: "blind", attachments: [plan.id] });
  vi.unstubAllEnvs();
  expect(response.status).toBe(400);
  expect((await problemOf(response)).fields).toMatchObject([
    { field: "attachments", message: expect.stringMatching(/is not known to take images/) },
  ]);
  expect(await server.get("/v1/sessions")).toMatchObject({ sessions: [] });
});
