import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { breakerPolicy } from "../../../src/domain/breaker.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { onDelivered } from "../../../src/domain/ticket-delivery.ts";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { CircuitBreaker } from "../../../src/run/circuit-breaker.ts";
import { pruneTickets } from "../../../src/store/prune-tickets.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { DueTicket } from "../../../src/store/ticket-store.ts";
import { LoopbackWebhook } from "../../support/loopback-webhook.ts";
import { sampleTicket } from "../../unit/tickets/sample-ticket.ts";
import { TeamPlace } from "../run/place.ts";

const dayMs = 24 * 3_600_000;

const hopeless = defineTeam("hopeless", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", { maxAttempts: 1, run: () => Promise.reject(new Error("not good enough")) }),
      ],
    }),
  ],
});

const once = { max: 1, baseDelayMs: 1, maxDelayMs: 1 };
const all = { olderThanMs: 0, keep: 0 };

test("a delivered ticket goes with its session and takes its file along; while the session is there, it stays", async () => {
  const place = new TeamPlace();
  const maestro = await place.open({ rounds: once });
  const files = () => readdirSync(join(place.stateDir, "tickets"));
  const { id, ticket } = await (await maestro.start(hopeless, { brief: "b" })).result();
  expect(ticket?.status).toBe("delivered");
  expect(await maestro.prune(all)).toMatchObject({ sessions: [], tickets: 0 });
  expect((await maestro.show(id)).ticket).toEqual(ticket);
  await maestro.cancel(id);
  expect(await maestro.prune({ ...all, dryRun: true })).toMatchObject({ sessions: [id], tickets: 1 });
  expect([(await maestro.tickets()).length, files().length]).toEqual([1, 1]);
  expect(await maestro.prune(all)).toMatchObject({ sessions: [id], tickets: 1 });
  expect([await maestro.tickets(), files()]).toEqual([[], []]);
});

test("a ticket that is not delivered outlives its session, until it is", async () => {
  const webhook = await LoopbackWebhook.start();
  const settings = { rounds: once, webhook: webhook.options };
  await webhook.server.close();
  const place = new TeamPlace();
  const clock = new ManualClock(Date.now());
  const maestro = await place.open({ ...settings, clock });
  const { id, ticket } = await (await maestro.start(hopeless, { brief: "b" })).result();
  expect(ticket?.status).toBe("pending");
  await maestro.cancel(id);
  expect(await maestro.prune(all)).toMatchObject({ sessions: [id], tickets: 0 });
  expect(await maestro.tickets()).toMatchObject([{ status: "pending" }]);
  await maestro.close();

  const later = await place.open({ rounds: once, clock });
  clock.jump(dayMs);
  expect(await later.deliverTickets()).toBe(1);
  expect(existsSync(join(place.stateDir, "tickets", `${ticket?.fingerprint}.md`))).toBe(true);
  expect(await later.prune(all)).toMatchObject({ sessions: [], tickets: 1 });
  expect(await later.tickets()).toEqual([]);
});

test("a ticket about a service goes by its age, and not while the service is down", async () => {
  const place = new TeamPlace();
  const clock = new ManualClock();
  const store = new SqliteStore({ path: join(place.stateDir, "maestro.db"), clock, leaseMs: 15_000 });
  onTestFinished(() => store.close());
  const deliver = async (dependency: string) => {
    const ticket = sampleTicket({ sessionId: "-", persona: dependency, message: dependency });
    await store.tickets.raise(ticket);
    const { delivery } = (await store.tickets.takeDue(clock.now(), "owner")) as DueTicket;
    const reference = { key: "T-1", url: "https://tracker.example/T-1" };
    await store.tickets.settle(ticket.id, onDelivered(reference, clock.now()), delivery);
  };
  const breaker = new CircuitBreaker({
    breakers: store.breakers,
    policy: { ...breakerPolicy, threshold: 1 },
    clock,
    onHopeless: async () => {},
  });
  await deliver("up.example.org");
  await deliver("down.example.org");
  const call = breaker.guard(
    "down.example.org",
    () => Promise.reject(new Error("down")),
    () => ({ kind: "outage" }),
  );
  await expect(call).rejects.toThrow("down");
  const removed: string[] = [];
  const prune = (before: number | undefined) =>
    pruneTickets({
      store,
      sessions: [],
      before,
      dryRun: false,
      removeFile: async (fingerprint) => void removed.push(fingerprint),
    });
  await clock.advance(dayMs);
  expect(await prune(undefined), "who only says how many to keep says nothing of its age").toBe(0);
  expect(await prune(clock.now() - 2 * dayMs)).toBe(0);
  expect(await prune(clock.now())).toBe(1);
  expect((await store.tickets.list()).map(({ ticket }) => ticket.persona)).toEqual(["down.example.org"]);
  expect(removed).toHaveLength(1);
  await store.breakers.reset("down.example.org");
  expect(await prune(clock.now())).toBe(1);
});
