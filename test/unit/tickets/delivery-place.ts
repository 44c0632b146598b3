import { expect } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { JiraSink } from "../../../src/tickets/jira.ts";
import {
  type Guard,
  TicketOutbox,
  type TicketOutboxOptions,
  type TicketReport,
} from "../../../src/tickets/outbox.ts";
import type { TicketSink } from "../../../src/tickets/ticket-sink.ts";
import { createPath, LoopbackJira } from "../../support/loopback-jira.ts";
import { MemoryQueue } from "./memory-queue.ts";
import { sampleTicket } from "./sample-ticket.ts";

const noBreaker: Guard = (_dependency, call) => call();

/** A queue, a clock moved by hand and a Jira on the loopback interface. */
export class DeliveryPlace {
  readonly clock = new ManualClock();
  readonly queue = new MemoryQueue(this.clock);
  readonly reports: TicketReport[] = [];
  readonly jira: LoopbackJira;

  private constructor(jira: LoopbackJira) {
    this.jira = jira;
  }

  static async open(): Promise<DeliveryPlace> {
    return new DeliveryPlace(await LoopbackJira.start());
  }

  close(): Promise<void> {
    return this.jira.server.close();
  }

  /** Of many different problems one. */
  add(number = 0) {
    const letter = "abcdefghijklmnopqrstuvwxyz"[number] ?? "";
    return this.queue.add(sampleTicket({ message: `problem ${letter}` }));
  }

  sink(timeoutMs = 5000): TicketSink {
    return new JiraSink({ ...this.jira.options, timeoutMs });
  }

  outbox({
    guard = noBreaker,
    sink = this.sink(),
    owner = "a",
    shelf,
  }: Partial<Pick<TicketOutboxOptions, "guard" | "sink" | "owner" | "shelf">> = {}): TicketOutbox {
    const { queue, clock } = this;
    return new TicketOutbox({
      pullRequestSink: () => Promise.reject(new Error("no ticket here asks for a pull request")),
      queue,
      sink,
      guard,
      clock,
      owner,
      shelf,
      report: (report) => this.reports.push(report),
    });
  }

  /** The requests to Jira, in order. */
  asked(): readonly ("post" | "search")[] {
    return this.jira.server.requests.map(({ path }) => (path === createPath ? "post" : "search"));
  }

  async deliverUntilDone(sink?: TicketSink): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) {
      await this.outbox(sink && { sink }).deliverDue();
      const at = await this.queue.nextDueAt();
      if (at === undefined) return;
      await this.clock.advance(Math.max(0, at - this.clock.now()));
    }
    expect.fail("the tickets were not delivered");
  }
}
