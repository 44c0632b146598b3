import { expect, test } from "vitest";
import { TicketRefused, type TicketSink, TicketUnclear } from "../../../src/tickets/ticket-sink.ts";
import type { Behavior, LoopbackServer } from "../../support/loopback-server.ts";
import { patience, sampleTicket } from "./sample-ticket.ts";

interface OnTheWire {
  readonly sink: (timeoutMs?: number) => TicketSink;
  readonly server: () => LoopbackServer;
  readonly postPath: string;
  readonly created: () => number;
}

interface Expected {
  readonly error: typeof TicketRefused | typeof TicketUnclear;
  readonly fault: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly created: number;
}

const outcomes: readonly (readonly [Behavior, Expected])[] = [
  ["rate-limit", { error: TicketRefused, fault: "rate-limit", status: 429, retryAfterMs: 7000, created: 0 }],
  ["server-error", { error: TicketUnclear, fault: "outage", status: 500, created: 0 }],
  ["gateway-error-after", { error: TicketUnclear, fault: "outage", status: 502, created: 1 }],
  ["cut-answer", { error: TicketUnclear, fault: "outage", created: 1 }],
  ["cut-refusal", { error: TicketRefused, fault: "request", status: 400, created: 0 }],
  ["drop-after", { error: TicketUnclear, fault: "outage", created: 1 }],
  ["drop-before", { error: TicketUnclear, fault: "outage", created: 0 }],
  ["redirect", { error: TicketRefused, fault: "request", status: 307, created: 0 }],
  ["huge", { error: TicketUnclear, fault: "outage", created: 1 }],
  ["slow", { error: TicketUnclear, fault: "outage", created: 1 }],
];

/** The required outcome in every tracker over HTTP for each way in which a POST can end. */
export function testOutcomes({ sink, server, postPath, created }: OnTheWire): void {
  test.each(outcomes)("a POST that meets %s", async (behavior, expected) => {
    server().switches.script[postPath] = [behavior];
    const sinkInTime = behavior === "slow" ? sink(200) : sink();
    const error = await failureOf(sinkInTime.post(sampleTicket(), patience));
    expect(error).toBeInstanceOf(expected.error);
    const { created: expectedCount, error: _class, ...properties } = expected;
    expect(error).toMatchObject(properties);
    expect(created()).toBe(expectedCount);
    expect(server().requests).toHaveLength(1);
  });

  test("a POST to a closed port counts as not sent", async () => {
    const unreachable = sink();
    await server().close();
    const error = await failureOf(unreachable.post(sampleTicket(), patience));
    expect(error).toBeInstanceOf(TicketRefused);
    expect(error).toMatchObject({ fault: "outage" });
  });

  test("a POST that we break off ourselves is unclear and no outage", async () => {
    server().switches.script[postPath] = ["slow"];
    const abort = new AbortController();
    const posting = failureOf(sink().post(sampleTicket(), abort.signal));
    await expect.poll(() => server().requests.length, { interval: 5 }).toBe(1);
    abort.abort();
    const error = await posting;
    expect(error).toBeInstanceOf(TicketUnclear);
    expect(error).toMatchObject({ fault: "request" });
  });
}

export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => expect.fail(`it succeeded with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}
