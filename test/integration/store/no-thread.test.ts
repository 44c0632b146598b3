import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { DatabaseFiles } from "../../../src/store/sqlite/database-files.ts";
import { ensureSchema, openDatabase } from "../../../src/store/sqlite/open-database.ts";
import { ThreadWriter } from "../../../src/store/sqlite/writer-client.ts";

/** As Node does when the system refuses another thread. */
vi.mock("node:worker_threads", async (importOriginal) => ({
  ...(await importOriginal<typeof import("node:worker_threads")>()),
  Worker: function Worker() {
    throw Object.assign(new Error("Worker initialization failure: EAGAIN"), {
      code: "ERR_WORKER_INIT_FAILED",
    });
  },
}));

const reset = { verb: "reset-breaker", dependency: "api.example.org", at: 0 } as const;

test("where no thread can be started, writes fail and the process continues", async () => {
  const directory = mkdtempSync(join(tmpdir(), "maestro-no-thread-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "maestro.db");
  const other = openDatabase(path);
  ensureSchema(other, path);
  const writer = new ThreadWriter(path, new DatabaseFiles(path));
  expect(await writer.submit(reset), "the caller's thread commits").toMatchObject({ kind: "removed" });
  expect(() => writer.beat("somebody", 60_000)).toThrow("EAGAIN");
  other.exec("BEGIN IMMEDIATE");
  const replies = await Promise.all([writer.submit(reset), writer.submit(reset)]);
  other.exec("COMMIT");
  for (const reply of replies)
    expect(reply).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("EAGAIN") } });
  other.close();
  await writer.close();
});
