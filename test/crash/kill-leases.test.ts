import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { killLeaseHolders } from "../campaign/kill-leases.ts";
import type { Answer, Order } from "./support/claimant.ts";
import { Contest } from "./support/contest.ts";
import type { Place } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import { readRecorded } from "./support/recorded.ts";
import { stopBetweenCommits } from "./support/stop.ts";
import { until } from "./support/until.ts";

describe("processes that compete for one session", () => {
  let contest: Contest;
  let place: Place;
  beforeEach(async () => {
    contest = await Contest.begin();
    place = contest.place;
  });
  afterEach(() => contest.end());

  const claimant = (leaseMs?: number): Program => contest.claimant(leaseMs);
  const order = (program: Program, order: Order) => contest.order(program, order);

  it("exactly one of 8 concurrent claims succeeds, and the others get LeaseHeld", async () => {
    const rounds = 60;
    const claimants = Array.from({ length: 8 }, () => claimant());
    for (let round = 1; round <= rounds; round += 1) {
      const winner = await contest.winnerOf(claimants);
      expect(await order(winner, { do: "write", row: `round-${round}` })).toEqual({ epoch: round });
      await order(winner, { do: "release" });
    }
    const { rows } = await readRecorded(place.stateDir, contest.key);
    const epochs = Array.from({ length: rounds }, (_, index) => index + 1);
    expect(rows.filter(({ kind }) => kind === "session.claimed").map(({ epoch }) => epoch)).toEqual(epochs);
    expect(rows.filter(({ kind }) => kind === "phase.started").map(({ epoch }) => epoch)).toEqual(epochs);
  });

  it("exactly one of the others takes over when the holder is killed", async () => {
    expect(await killLeaseHolders(1, 12)).toBe(12);
  });

  it("a driver that sleeps past its lease writes nothing after it wakes up", async () => {
    const leaseMs = 1_000;
    const [sleeper, successor] = [claimant(leaseMs), claimant(leaseMs)];
    const slept = (await order(sleeper, { do: "claim" })) as { epoch: number };
    const refused = order(sleeper, { do: "write until refused" });
    await until("it writes", async () => (await readRecorded(place.stateDir, contest.key)).rows.length > 5);
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
    const { rows } = await readRecorded(place.stateDir, contest.key);
    const epochs = rows.map(({ epoch }) => epoch);
    expect(taken).toEqual({ epoch: slept.epoch + 1 });
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
    expect(rows.slice(-3).map(({ kind, epoch }) => [kind, epoch])).toEqual([
      ["session.claimed", slept.epoch + 1],
      ["phase.started", slept.epoch + 1],
      ["phase.started", slept.epoch + 1],
    ]);
  });

  it("a driver that waits long for the database lock keeps its lease", async () => {
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

  it("a process that is stopped inside a commit delays the others, and no row is lost", async () => {
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
    const { rows } = await readRecorded(place.stateDir, contest.key);
    expect(rows.filter(({ kind }) => kind === "phase.started")).toHaveLength(1);
  });
});
