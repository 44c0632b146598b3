import { mkdirSync } from "node:fs";
import { systemClock } from "../../../src/domain/clock.ts";
import { deliveryPolicy, type TicketDelivery } from "../../../src/domain/ticket-delivery.ts";
import type { FaultPoint } from "../../../src/store/fault-points.ts";
import type { Behavior, Exchange } from "../../support/loopback-server.ts";
import { sampleTicket } from "../../unit/tickets/sample-ticket.ts";
import type { DeliverOptions } from "./deliver.ts";
import { Place } from "./place.ts";
import type { Ended } from "./program.ts";
import { openStore } from "./recorded.ts";
import type { Tracker } from "./trackers.ts";

/** The purpose of a request to a tracker. */
export type Request = "create" | "search";

/** When a delivering process is killed; `nth`: at the n-th occurrence. */
export type Kill =
  | { readonly at: "fault"; readonly point: FaultPoint; readonly nth: number }
  | {
      readonly at: "arrival";
      readonly request: Request;
      readonly nth: number;
      /** How the tracker handles the request of the killed sender. */
      readonly fate: "done" | "done late" | "lost";
    }
  | { readonly at: "answer"; readonly request: Request; readonly nth: number; readonly afterMs: number };

export interface DeliveryLife {
  readonly ended: Ended;
  /** It was killed after it sent a POST and before it recorded the outcome. */
  readonly betweenPostAndRecord: boolean;
  /** It sent the tracker no request. */
  readonly idle: boolean;
  /** Tickets that it posted although they were recorded as delivered. */
  readonly again: readonly string[];
}

/** A request may wait in the tracker's queue almost until its sender's deadline. */
const queuedMs = deliveryPolicy.deadlineMs - 5_000;

/** A tracker and an outbox on a real disk. Time passes between processes, for them and for the tracker alike. */
export class TicketPlace<Where extends Tracker = Tracker> extends Place {
  readonly tracker: Where;
  /** How far the clock is ahead. */
  aheadMs = 0;
  #raised = 0;

  constructor(track: (now: () => number) => Where) {
    super();
    mkdirSync(this.stateDir, { mode: 0o700 });
    this.tracker = track(() => this.now());
    const { switches } = this.tracker.server;
    switches.slowMs = 20;
    switches.retryAfter = "7";
  }

  async listen(): Promise<this> {
    await this.tracker.server.listen();
    return this;
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** This many new problems, one now and each of the others later. */
  async raise(count: number, everyMs = 0): Promise<void> {
    let at = this.now();
    const store = openStore(this.stateDir, undefined, { ...systemClock, now: () => at });
    try {
      const raising: Promise<void>[] = [];
      for (let turn = 0; turn < count; turn += 1, at += everyMs) {
        this.#raised += 1;
        raising.push(store.tickets.raise(sampleTicket({ message: `problem ${inLetters(this.#raised)}` })));
      }
      await Promise.all(raising);
    } finally {
      await store.close();
    }
  }

  /** Runs one process; `script`: how the tracker handles its requests. */
  async deliver(script: Record<string, Behavior[]>, kill?: Kill): Promise<DeliveryLife> {
    const { server } = this.tracker;
    const { switches } = server;
    switches.script = script;
    const delivered = this.#labels("delivered");
    const before = server.requests.length;
    const fault =
      kill?.at === "fault" ? ({ point: kill.point, hit: kill.nth, act: "kill" } as const) : undefined;
    const program = this.run("deliver.ts", {
      stateDir: this.stateDir,
      tracker: this.tracker.settings,
      laterMs: this.aheadMs,
      fault,
    } satisfies DeliverOptions);
    let left = kill?.nth ?? 0;
    const isMeant = (exchange: Exchange, request: Request) =>
      this.tracker.isCreate(exchange) === (request === "create") && --left === 0;
    server.witness = {
      arrived: async (exchange) => {
        if (kill?.at !== "arrival" || !isMeant(exchange, kill.request)) return;
        await program.end();
        if (kill.fate === "done late") this.aheadMs += queuedMs;
        if (kill.fate === "lost") switches.script[exchange.path] = ["drop-before"];
      },
      answered: (exchange) => {
        if (kill?.at !== "answer" || !isMeant(exchange, kill.request)) return;
        if (kill.afterMs < 1) program.signal("SIGKILL");
        else setTimeout(() => program.signal("SIGKILL"), kill.afterMs);
      },
    };
    const ended = await program.ended;
    await server.settled();
    const asked = server.requests.slice(before);
    const created = asked.filter((exchange) => this.tracker.isCreate(exchange));
    const labels = created.flatMap((exchange) => this.tracker.labelsIn(exchange));
    const posting = this.#labels("posting");
    const isOpen = labels.some((label) => posting.has(label));
    return {
      ended,
      betweenPostAndRecord: ended.signal === "SIGKILL" && isOpen,
      idle: asked.length === 0,
      again: labels.filter((label) => delivered.has(label)),
    };
  }

  override async remove(): Promise<void> {
    await super.remove();
    await this.tracker.server.close();
  }

  #labels(kind: TicketDelivery["kind"]): ReadonlySet<string> {
    return new Set([...this.deliveries()].flatMap(([label, each]) => (each.kind === kind ? [label] : [])));
  }
}

/** Numbers in a message do not make it another problem. */
function inLetters(number: number): string {
  return String(number).replaceAll(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
}
