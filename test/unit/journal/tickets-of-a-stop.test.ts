import { expect, test } from "vitest";
import { toErrorJson } from "../../../src/domain/error-to-json.ts";
import { HelpNeeded } from "../../../src/domain/errors.ts";
import type { Entry } from "../../../src/journal/journal.ts";
import { reduceEntries } from "./reduce-entries.ts";

const asked: Entry = {
  kind: "session.status",
  status: "parked",
  reason: "help",
  error: toErrorJson(new HelpNeeded("dev needs help")),
  tickets: ["maestro-1"],
};
const ticketsAfter = (...entries: Entry[]) => reduceEntries([asked, ...entries]).tickets;

test("a stop that asks for nothing new keeps the ticket of the request, until the session is done or waits for something else", () => {
  expect(ticketsAfter()).toEqual(["maestro-1"]);
  expect(ticketsAfter({ kind: "session.status", status: "paused", by: "person" })).toEqual(["maestro-1"]);
  expect(ticketsAfter({ kind: "session.status", status: "parked", reason: "review" })).toEqual([]);
  expect(ticketsAfter({ kind: "session.status", status: "completed" })).toEqual([]);
});
