import type { Clock } from "../domain/clock.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { SessionId } from "../domain/ids.ts";
import { type Limit, limitsOf, RunningCounts, type SessionLimits } from "./decisions/limits.ts";
import { candidateOf, type DrivenTurn, inTurn, isLeft, type Turn, type Waiting } from "./decisions/take.ts";
import type { Candidate, Claim, Consider } from "./journal.ts";
import type { LeaseJudge } from "./lease-judge.ts";
import type { SessionRecord } from "./session-record.ts";

/** Reads of the sessions in a store, each at one moment. */
export interface TakeLoad {
  session(id: SessionId): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  underWay(): readonly DrivenTurn[] | Promise<readonly DrivenTurn[]>;
  /** Sessions that may be taken, longest wait first. */
  due(now: number): readonly Turn[] | Promise<readonly Turn[]>;
}

interface TakerParts {
  readonly load: TakeLoad;
  readonly leases: LeaseJudge;
  readonly clock: Clock;
  readonly claim: (candidate: Candidate, guard: ClaimGuard) => Promise<Claim>;
  readonly block: (session: SessionRecord, why: ErrorJson) => Promise<unknown>;
  /** Called when a place is free for the next suspect. */
  readonly tell: () => void;
}

/** Checked again in the claiming transaction. */
export interface ClaimGuard {
  readonly limits: readonly Limit[];
  readonly deadOwners: readonly string[];
}

interface Look {
  readonly waiting: readonly Waiting[];
  readonly due: ReadonlySet<SessionId>;
  readonly running: RunningCounts;
  readonly deadOwners: readonly string[];
}

/**
 * Takes sessions for this process: loads the input of decisions/take.ts and begins the claims. Works with every
 * store.
 */
export class Taker {
  readonly #parts: TakerParts;
  /** Suspects that have recorded nothing new since this process took them. */
  readonly onProbation: ReadonlySet<SessionId>;
  readonly #onProbation = new Set<SessionId>();

  constructor(parts: TakerParts) {
    this.#parts = parts;
    this.onProbation = this.#onProbation;
  }

  async take(places: number, consider: Consider, limits: SessionLimits): Promise<number> {
    const { waiting, due, running, deadOwners } = await this.#look(this.#parts.clock.now());
    const turns = inTurn(waiting, running, limits, this.#onProbation);
    let taken = 0;
    for (let turn = turns.next(); taken < places && turn.done !== true; ) {
      const isTaken = await this.#offer(turn.value, due, consider, { limits, deadOwners });
      if (isTaken) taken += 1;
      turn = turns.next(isTaken);
    }
    return taken;
  }

  /**
   * It has recorded something new or its drive has ended, also if a full disk prevents its release. The next
   * suspect may follow.
   */
  proved(id: SessionId): void {
    if (this.#onProbation.delete(id)) this.#parts.tell();
  }

  async #offer(
    waiting: Waiting,
    due: ReadonlySet<SessionId>,
    consider: Consider,
    { limits, deadOwners }: { readonly limits: SessionLimits; readonly deadOwners: readonly string[] },
  ): Promise<boolean> {
    const session = await this.#parts.load.session(waiting.id);
    if (session === undefined) return false;
    const candidate = candidateOf(session, due.has(session.id));
    const begin = await consider(candidate);
    if (typeof begin === "function") {
      begin(this.#claim(candidate, waiting, { limits: limitsOf(session, limits), deadOwners }));
      return true;
    }
    if (begin !== undefined) await this.#block(session, begin.blocked);
    return false;
  }

  #claim(candidate: Candidate, { id, isSuspect }: Waiting, guard: ClaimGuard): Promise<Claim> {
    if (isSuspect && candidate.isToDrive) this.#onProbation.add(id);
    const claim = this.#parts.claim(candidate, guard);
    // The claim may fail before its taker awaits it.
    claim.catch(() => this.proved(id));
    return claim;
  }

  /** Written only when it changes. */
  async #block(session: SessionRecord, why: ErrorJson): Promise<void> {
    if (session.blocked?.message !== why.message) await this.#parts.block(session, why);
  }

  async #look(now: number): Promise<Look> {
    const { load, leases } = this.#parts;
    const running = new RunningCounts();
    const waiting = new Map<SessionId, Waiting>();
    const deadOwners = new Set<string>();
    const stateOf = leases.look();
    for (const driven of await load.underWay()) {
      const { holder, status, isResting: _, ...turn } = driven;
      const state = stateOf(holder);
      if (state === "dead" && holder !== undefined) deadOwners.add(holder.id);
      if (status === "running" && (state === "held" || state === "expired")) running.add(turn);
      if (!isLeft(driven, state)) continue;
      const isSuspect = holder !== undefined && leases.isOfThisBoot(holder) && status === "running";
      waiting.set(turn.id, { ...turn, isAbandoned: true, isSuspect });
    }
    const due = await load.due(now);
    for (const turn of due) {
      if (waiting.has(turn.id)) continue;
      waiting.set(turn.id, { ...turn, isAbandoned: false, isSuspect: false });
    }
    return {
      waiting: [...waiting.values()],
      due: new Set(due.map(({ id }) => id)),
      running,
      deadOwners: [...deadOwners],
    };
  }
}
