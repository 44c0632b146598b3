import { decideReservation, noAmount } from "../../domain/budget.ts";
import { checkAsked } from "../../domain/ledger.ts";
import type { LedgerCommand, Submit, Success } from "../command.ts";
import { mayBeHeldUpByTheDead } from "../decisions/ledger.ts";
import type { Lease, ReservationAnswer, ReservationRequest } from "../journal.ts";
import type { SqlQueries } from "./queries.ts";

const openReservations = `SELECT DISTINCT g.session, l.epoch, l.owner FROM ledger g JOIN leases l ON l.session = g.session
       WHERE g.status = 'open'`;
/** The reservations of this process's drivers and of dead drivers. */
export class Reservations {
  readonly #queries: SqlQueries;
  readonly #submit: Submit;
  readonly #now: () => number;
  /** Submits with proof of the lease. Refused if it is stale. */
  readonly #prove: (lease: Lease, command: LedgerVerb) => Promise<Success>;
  /** True if a live process drives the session. */
  readonly #isDriven: (session: number) => boolean | Promise<boolean>;

  constructor(parts: {
    readonly queries: SqlQueries;
    readonly submit: Submit;
    readonly now: () => number;
    readonly prove: (lease: Lease, command: LedgerVerb) => Promise<Success>;
    readonly isDriven: (session: number) => boolean | Promise<boolean>;
  }) {
    this.#queries = parts.queries;
    this.#submit = parts.submit;
    this.#now = parts.now;
    this.#prove = parts.prove;
    this.#isDriven = parts.isDriven;
  }

  async reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer> {
    checkRequest(request);
    const answer = await this.#reserve(lease, request);
    if (!mayBeHeldUpByTheDead(answer) || !(await this.#estimateAbandoned())) return answer;
    return this.#reserve(lease, request);
  }

  async #reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer> {
    const reply = await this.#prove(lease, { verb: "reserve", sessionId: lease.sessionId, request });
    if (reply.kind !== "reservation") throw new Error(`the writer answered ${reply.kind} to reserve`);
    return reply.answer;
  }

  /** A call of a dead driver must not keep others waiting. True if there was one. */
  async #estimateAbandoned(): Promise<boolean> {
    const open = (await this.#queries.allNamed(openReservations)) as unknown as {
      session: number;
      epoch: number;
      owner: string | null;
    }[];
    const driven = await Promise.all(open.map(async ({ session }) => this.#isDriven(session)));
    const abandoned = open.filter((_, at) => !driven[at]);
    const at = this.#now();
    // Refused if the session was claimed meanwhile, in which case the claim did the same.
    await Promise.all(abandoned.map((lease) => this.#submit({ verb: "estimate", ...lease, at })));
    return abandoned.length > 0;
  }
}

type Bare<Verb> = Verb extends unknown ? Omit<Verb, "session" | "epoch" | "owner" | "at"> : never;
export type LedgerVerb = Bare<LedgerCommand>;

/** Checked here, where the error still has a class. Behind the writer's thread it would look like a disk error. */
function checkRequest({ asked, limits, output }: ReservationRequest): void {
  checkAsked(asked);
  if (output !== undefined) checkAsked(output.atLeast);
  const levels = limits.map(({ level, budget }) => ({
    level,
    budget,
    ledger: { used: noAmount, reserved: noAmount },
  }));
  decideReservation(levels, asked);
}
