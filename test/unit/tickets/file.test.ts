import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileSink } from "../../../src/tickets/file.ts";
import { TicketRefused } from "../../../src/tickets/ticket-sink.ts";
import { sampleTicket } from "./sample-ticket.ts";
import { failureOf } from "./wire-outcomes.ts";

let stateDirectory: string;
beforeEach(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), "maestro-tickets-"));
});
afterEach(() => rm(stateDirectory, { recursive: true, force: true }));

test("a ticket becomes a file that only its owner reads, found again by its name", async () => {
  const sink = new FileSink(stateDirectory);
  const ticket = sampleTicket();
  expect(await sink.find(ticket.fingerprint)).toBeUndefined();
  const reference = await sink.post(ticket);
  const path = join(stateDirectory, "tickets", `${ticket.fingerprint}.md`);
  expect(fileURLToPath(reference.url)).toBe(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(stateDirectory, "tickets"))).mode & 0o777).toBe(0o700);
  expect(await readFile(path, "utf8")).toMatch(
    /^# architect needs help in design of product: docs\/design.md/,
  );
  expect(await sink.find(ticket.fingerprint)).toEqual(reference);
});

test("the same ticket posted again is the same file: a second POST changes nothing", async () => {
  const sink = new FileSink(stateDirectory);
  const first = await sink.post(sampleTicket());
  const again = await sink.post(sampleTicket());
  expect(again).toEqual(first);
  expect(await readdir(join(stateDirectory, "tickets"))).toHaveLength(1);
  const other = await sink.post(sampleTicket({ sessionId: "01k0g2t5c8r7w9x3y4z5a6b7c9" }));
  expect(other.url, "another session's is another file").not.toBe(first.url);
});

test("a disk that refuses is a clear refusal", async () => {
  await writeFile(join(stateDirectory, "tickets"), "in the way");
  const error = await failureOf(new FileSink(stateDirectory).post(sampleTicket()));
  expect(error).toBeInstanceOf(TicketRefused);
  expect(error).toMatchObject({ fault: "outage" });
});

test("a fingerprint that is a path leads nowhere", async () => {
  const sink = new FileSink(stateDirectory);
  const wrong = { ...sampleTicket(), fingerprint: "../../outside" };
  expect(await failureOf(sink.post(wrong))).toBeInstanceOf(TicketRefused);
  expect(await failureOf(sink.find("../../outside"))).toBeInstanceOf(TicketRefused);
});
