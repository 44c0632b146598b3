import { mkdirSync } from "node:fs";
import { systemClock } from "../../../src/domain/clock.ts";
import { deliveryPolicy } from "../../../src/domain/ticket-delivery.ts";
import type { FaultPoint } from "../../../src/state/fault-points.ts";
import { createPath, LoopbackJira } from "../../support/loopback-jira.ts";
import { readFields } from "../../support/loopback-jira-fields.ts";
import type { Behavior } from "../../support/loopback-server.ts";
import { sampleTicket } from "../../unit/tickets/sample-ticket.ts";
import type { DeliverOptions } from "./deliver.ts";
import { Place } from "./place.ts";
import type { Ended } from "./program.ts";
import { openStore } from "./recorded.ts";

/** When a process that delivers is killed; `nth`: at the n-th time of that. */
export type Kill =
  | { readonly at: "fault"; readonly point: FaultPoint; readonly nth: number }
  | {
      readonly at: "arrival";
      readonly path: string;
      readonly nth: number;
      /** What becomes of the request whose sender is gone. */
      readonly fate: "done" | "done late" | "lost";
    }
  | { readonly at: "answer"; readonly path: string; readonly nth: number; readonly afterMs: number };

export interface DeliveryLife {
  readonly ended: Ended;
  /** It was killed with a POST on its way or done, and nothing on record about how that ended. */
  readonly betweenPostAndRecord: boolean;
  /** It asked the tracker nothing. */
  readonly idle: boolean;
}

/** The tracker sees what it was told just before anybody searches for it. */
const searchLagMs = deliveryPolicy.settleMs - 1_000;
/** A request may lie in the tracker's queue for nearly as long as its sender was allowed to take. */
const queuedMs = deliveryPolicy.deadlineMs - 5_000;

/** A Jira and an outbox on a real disk. Time passes between the lives of the processes, for them and for Jira alike. */
export class TicketPlace extends Place {
  readonly jira: LoopbackJira;
  /** How much later than now it is. */
  aheadMs = 0;
  #raised = 0;

  constructor() {
    super();
    mkdirSync(this.stateDir, { mode: 0o700 });
    this.jira = new LoopbackJira(() => this.now());
    this.jira.switches.searchLagMs = searchLagMs;
    this.jira.switches.slowMs = 20;
    this.jira.switches.retryAfter = "7";
  }

  static async open(): Promise<TicketPlace> {
    const place = new TicketPlace();
    await place.jira.server.listen();
    return place;
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** So many new problems, one now and each of the others so much later. */
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

  /** One life; `script`: what the tracker does with its requests meanwhile. */
  async deliver(script: Record<string, Behavior[]>, kill?: Kill): Promise<DeliveryLife> {
    const { server, switches } = this.jira;
    switches.script = script;
    const before = server.requests.length;
    const fault =
      kill?.at === "fault" ? ({ point: kill.point, hit: kill.nth, act: "kill" } as const) : undefined;
    const program = this.run("deliver.ts", {
      stateDir: this.stateDir,
      jira: this.jira.options,
      laterMs: this.aheadMs,
      fault,
    } satisfies DeliverOptions);
    let left = kill?.nth ?? 0;
    server.witness = {
      arrived: async ({ path }) => {
        if (kill?.at !== "arrival" || path !== kill.path || --left !== 0) return;
        await program.end();
        if (kill.fate === "done late") this.aheadMs += queuedMs;
        if (kill.fate === "lost") switches.script[path] = ["drop-before"];
      },
      answered: ({ path }) => {
        if (kill?.at !== "answer" || path !== kill.path || --left !== 0) return;
        if (kill.afterMs < 1) program.signal("SIGKILL");
        else setTimeout(() => program.signal("SIGKILL"), kill.afterMs);
      },
    };
    const ended = await program.ended;
    await server.settled();
    const asked = server.requests.slice(before);
    const deliveries = this.deliveries();
    const isOpen = asked.some(({ path, body }) => {
      if (path !== createPath) return false;
      const labels = readFields(body)?.["labels"] as readonly string[] | undefined;
      return labels?.some((label) => deliveries.get(label)?.kind === "posting");
    });
    return {
      ended,
      betweenPostAndRecord: ended.signal === "SIGKILL" && isOpen,
      idle: asked.length === 0,
    };
  }

  override async remove(): Promise<void> {
    await super.remove();
    await this.jira.server.close();
  }
}

/** Numbers in a message do not make another problem of it. */
function inLetters(number: number): string {
  return String(number).replaceAll(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
}
