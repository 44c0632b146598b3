import { mkdirSync } from "node:fs";
import { expect } from "vitest";
import { newSessionId, type SessionId } from "../../../src/domain/ids.ts";
import type { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Answer, ClaimantOptions, Order } from "./claimant.ts";
import { Place } from "./place.ts";
import type { Program } from "./program.ts";
import { openStore } from "./recorded.ts";

/** One session, and processes that compete for it. */
export class Contest {
  readonly key = "contested";
  readonly place: Place;
  readonly #store: SqliteStore;
  readonly #session: SessionId;

  private constructor(place: Place, store: SqliteStore, session: SessionId) {
    this.place = place;
    this.#store = store;
    this.#session = session;
  }

  static async begin(): Promise<Contest> {
    const place = new Place();
    mkdirSync(place.stateDir);
    const store = openStore(place.stateDir);
    const common = { team: "none", teamFingerprint: "none" };
    const created = { kind: "session.created", ...common, definition: null, brief: "Fight." } as const;
    const { session } = await store.createSession({
      id: newSessionId(),
      key: "contested",
      ...common,
      identity: "none",
      created,
    });
    return new Contest(place, store, session.id);
  }

  claimant(leaseMs = 15_000): Program {
    const { stateDir } = this.place;
    return this.place.run("claimant.ts", {
      stateDir,
      leaseMs,
      session: this.#session,
    } satisfies ClaimantOptions);
  }

  order(program: Program, order: Order): Promise<Answer> {
    return program.ask<Answer>(order);
  }

  /** All claim at once; exactly one gets the session, and the others get LeaseHeld. */
  async winnerOf(claimants: readonly Program[]): Promise<Program> {
    const answers = await Promise.all(claimants.map((claimant) => this.order(claimant, { do: "claim" })));
    const refusals = answers.flatMap((answer) => ("refused" in answer ? answer.refused : []));
    expect(refusals).toEqual(refusals.map(() => "LEASE_HELD"));
    const winners = claimants.filter((_, index) => "epoch" in (answers[index] as Answer));
    expect(winners).toHaveLength(1);
    return winners[0] as Program;
  }

  async end(): Promise<void> {
    await this.#store.close();
    await this.place.remove();
  }
}
