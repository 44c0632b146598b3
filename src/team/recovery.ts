import type { Clock } from "../domain/clock.ts";
import { LeaseHeld, LeaseLost } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import type { Team } from "./define.ts";
import type { TeamEngine } from "./engine.ts";

const everyMs = 1_000;
const againMs = 60_000;
/** A crash may leave hundreds: they are taken up as others end. */
const mostAtOnce = 16;

export interface RecoveryParts {
  readonly store: Store;
  readonly engine: TeamEngine;
  readonly clock: Clock;
  readonly teamOf: (session: SessionRecord) => Promise<Team | undefined>;
  /** Done in each round as well: tickets that are due. */
  readonly alsoDue: () => Promise<unknown>;
  readonly report: (notice: string) => void;
}

/** Takes up what nobody drives: what a crash left, what waited for a breaker, what was started and never claimed. */
export class Recovery {
  readonly #parts: RecoveryParts;
  /** Sessions that could not be recovered, and when to try again. */
  readonly #notBefore = new Map<SessionId, number>();
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Now, and again every second. */
  async start(): Promise<void> {
    await this.#look();
    // One round at a time, however long a tracker takes to answer.
    this.#timer ??= setInterval(() => {
      this.#round ??= this.#look()
        .catch((error: unknown) => this.#parts.report(String(error)))
        .finally(() => {
          this.#round = undefined;
        });
    }, everyMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }

  async #look(): Promise<void> {
    const { store, engine, clock, teamOf, alsoDue } = this.#parts;
    for (const [id, at] of this.#notBefore) if (clock.now() >= at) this.#notBefore.delete(id);
    const abandoned = (await store.findAbandoned()).map((id) => ({ id, isDue: false }));
    const due = (await store.findDue()).map((id) => ({ id, isDue: true }));
    for (const { id, isDue } of [...abandoned, ...due]) {
      if (this.#underWay >= mostAtOnce) break;
      if (engine.isDriving(id) || this.#notBefore.has(id)) continue;
      const session = await store.findSession(id);
      const team = session && (await teamOf(session));
      if (session === undefined || team === undefined) {
        // Another process may know its team.
        this.#notBefore.set(id, clock.now() + againMs);
        continue;
      }
      const drives = isDue || wasDriven(session);
      const recovered = drives ? engine.drive(id, team, "recovery") : engine.settle(id);
      this.#underWay += 1;
      recovered
        .catch((error: unknown) => this.#failed(id, error))
        .finally(() => {
          this.#underWay -= 1;
        });
    }
    await alsoDue();
  }

  #failed(id: SessionId, error: unknown): void {
    if (LeaseHeld.is(error) || LeaseLost.is(error)) return;
    // Trying again every second would not mend it, only fill its journal with claims.
    this.#notBefore.set(id, this.#parts.clock.now() + againMs);
    this.#parts.report(
      `Session ${id} could not be recovered: ${String(error)} It is tried again in a minute.`,
    );
  }
}

/** Who dies while making a fork leaves a session that nobody has asked to drive. */
function wasDriven({ status, reason }: SessionRecord): boolean {
  return status === "running" || reason === "breaker";
}
