import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { SqliteStore } from "../../src/state/sqlite/sqlite-store.ts";
import type { Answer, ClaimantOptions, Order } from "./support/claimant.ts";
import { Place } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import { openStore, readRecorded } from "./support/recorded.ts";
import { stopBetweenCommits } from "./support/stop.ts";
import { until } from "./support/until.ts";

const key = "contested";

describe("one session, many processes", () => {
  let place: Place;
  let store: SqliteStore;
  let session: SessionId;
  beforeEach(async () => {
    place = new Place();
    mkdirSync(place.stateDir);
    store = openStore(place.stateDir);
    session = await createSession(store);
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  const claimant = (leaseMs = 15_000): Program =>
    place.run("claimant.ts", { stateDir: place.stateDir, leaseMs, session } satisfies ClaimantOptions);
  const order = (program: Program, order: Order) => program.ask<Answer>(order);

  /** All at once; who gets it? */
  async function contest(claimants: readonly Program[]): Promise<Program[]> {
    const answers = await Promise.all(claimants.map((claimant) => order(claimant, { do: "claim" })));
    const refusals = answers.flatMap((answer) => ("refused" in answer ? answer.refused : []));
    expect(refusals.filter((code) => code !== "LEASE_HELD")).toEqual([]);
    return claimants.filter((_, index) => "epoch" in (answers[index] as Answer));
  }

  it("8 processes claim it at once, 200 times: exactly one gets it, the others are told that it is held", async () => {
    const claimants = Array.from({ length: 8 }, () => claimant());
    for (let round = 1; round <= 200; round += 1) {
      const winners = await contest(claimants);
      expect(winners).toHaveLength(1);
      const [winner] = winners as [Program];
      expect(await order(winner, { do: "write", row: `round-${round}` })).toEqual({ epoch: round });
      await order(winner, { do: "release" });
    }
    const { rows } = await readRecorded(place.stateDir, key);
    const epochs = Array.from({ length: 200 }, (_, index) => index + 1);
    expect(rows.filter(({ kind }) => kind === "session.claimed").map(({ epoch }) => epoch)).toEqual(epochs);
    expect(rows.filter(({ kind }) => kind === "phase.started").map(({ epoch }) => epoch)).toEqual(epochs);
  });

  it("when the one that has it is killed, exactly one of the others gets it, within 2 s, 20 times", async () => {
    const claimants = Array.from({ length: 8 }, () => claimant());
    let [holder] = (await contest(claimants)) as [Program];
    for (let round = 1; round <= 20; round += 1) {
      await order(holder, { do: "write", row: `round-${round}` });
      claimants.splice(claimants.indexOf(holder), 1);
      const killedAt = performance.now();
      await holder.end();
      const winners = await contest(claimants);
      expect(performance.now() - killedAt).toBeLessThan(2_000);
      expect(winners).toHaveLength(1);
      [holder] = winners as [Program];
      const newcomer = claimant();
      expect(await order(newcomer, { do: "claim" })).toEqual({ refused: "LEASE_HELD" });
      claimants.push(newcomer);
    }
    const { rows } = await readRecorded(place.stateDir, key);
    expect(rows.at(-1)?.epoch).toBe(21);
  });

  it("a driver that is stopped past its lease and wakes up again writes nothing more", async () => {
    const leaseMs = 1_000;
    const [sleeper, successor] = [claimant(leaseMs), claimant(leaseMs)];
    const slept = (await order(sleeper, { do: "claim" })) as { epoch: number };
    const refused = order(sleeper, { do: "write until refused" });
    await until("it writes", async () => (await readRecorded(place.stateDir, key)).rows.length > 5);
    expect(await order(successor, { do: "claim" })).toEqual({ refused: "LEASE_HELD" });

    await stopBetweenCommits(sleeper, place.stateDir);
    let taken: Answer = { refused: "" };
    await until("its lease is over", async () => {
      taken = await order(successor, { do: "claim" });
      return "epoch" in taken;
    });
    await order(successor, { do: "write", row: "taken over" });
    sleeper.signal("SIGCONT");

    expect(await refused).toEqual({ refused: "LEASE_LOST" });
    await order(successor, { do: "write", row: "undisturbed" });
    const { rows } = await readRecorded(place.stateDir, key);
    const epochs = rows.map(({ epoch }) => epoch);
    expect(taken).toEqual({ epoch: slept.epoch + 1 });
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
    expect(rows.slice(-3).map(({ kind, epoch }) => [kind, epoch])).toEqual([
      ["session.claimed", slept.epoch + 1],
      ["phase.started", slept.epoch + 1],
      ["phase.started", slept.epoch + 1],
    ]);
  });

  it("a driver that only could not get at the lock keeps its lease, however long that took", async () => {
    const leaseMs = 1_000;
    const [driver, other] = [claimant(leaseMs), claimant(leaseMs)];
    const claimed = (await order(driver, { do: "claim" })) as { epoch: number };
    for (let round = 1; round <= 3; round += 1) {
      const lock = new DatabaseSync(join(place.stateDir, "maestro.db"), { timeout: 5_000 });
      lock.exec("BEGIN IMMEDIATE");
      const write = order(driver, { do: "write", row: `round-${round}` });
      await setTimeout(3 * leaseMs);
      const taken = order(other, { do: "claim" });
      await setTimeout(leaseMs / 2);
      lock.exec("COMMIT");
      lock.close();
      expect(await taken).toEqual({ refused: "LEASE_HELD" });
      expect(await write).toEqual(claimed);
    }
  });

  it("a process that is stopped inside a commit holds everybody up, and nothing is lost", async () => {
    const [driver, other] = [claimant(3_000), claimant(3_000)];
    const claimed = (await order(driver, { do: "claim" })) as { epoch: number };
    const holder = place.run("lock-holder.ts", { stateDir: place.stateDir });
    await until("it has the lock", () => holder.isReady);
    holder.signal("SIGSTOP");
    expect(await order(driver, { do: "write", row: "too late" })).toEqual({ refused: "STORAGE_FAILED" });
    const taken = order(other, { do: "claim" });
    holder.signal("SIGCONT");
    expect(await taken).toEqual({ refused: "LEASE_HELD" });
    expect(await order(driver, { do: "write", row: "again" })).toEqual(claimed);
    const { rows } = await readRecorded(place.stateDir, key);
    expect(rows.filter(({ kind }) => kind === "phase.started")).toHaveLength(1);
  });
});

async function createSession(store: SqliteStore): Promise<SessionId> {
  const common = { team: "none", teamFingerprint: "none" };
  const created = { kind: "session.created", ...common, definition: null, brief: "Fight." } as const;
  const { session } = await store.createSession({
    id: newSessionId(),
    key,
    ...common,
    identity: "none",
    created,
  });
  return session.id;
}
