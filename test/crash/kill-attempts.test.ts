import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import {
  endingOf,
  expectRecordedStepsRanOnce,
  expectSixAttempts,
  expectTidyFiles,
} from "./support/expectations.ts";
import { type Life, Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";

const team = "hopeless";

describe("a persona that always fails gets 2 rounds of 3 attempts", () => {
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => place.remove());

  /** Starts processes that are killed at the point, until one reaches the end. */
  async function driveThrough(point: FaultPoint, hit: number): Promise<Life> {
    for (;;) {
      const life = await place.afterlife(place.drive(team, { fault: { point, hit, act: "kill" } }), team);
      if (life.ended.signal !== "SIGKILL") return life;
      expect(place.lives.length, "lives without progress").toBeLessThan(10);
    }
  }

  /** A kill before a commit needs hit 2, because a kill at hit 1 would never make progress. */
  it.each<[FaultPoint, number, number]>([
    ["attempt.started:before-commit", 2, 5],
    ["attempt.started:after-commit", 1, 6],
    ["step.function:before-commit", 2, 5],
    ["step.function:after-commit", 1, 6],
    ["attempt.failed:before-commit", 2, 5],
    ["attempt.failed:after-commit", 1, 6],
  ])("when every process is killed at %s", async (point, hit, kills) => {
    const last = await driveThrough(point, hit);
    expect(place.lives.length - 1).toBe(kills);
    expect(endingOf(last)).toMatchObject({ status: "parked", reason: "help" });
    expectSixAttempts(last);
    expectRecordedStepsRanOnce(place.lives);
    await expectTidyFiles(place, team);
  });

  it("when a kill prevents the parking, the next process parks it without another attempt", async () => {
    const fault = { point: "session.status:before-commit", hit: 1, act: "kill" } as const;
    for (let life = 1; life <= 3; life += 1) {
      const killed = await place.afterlife(place.drive(team, { fault }), team);
      expect(killed.ended.signal).toBe("SIGKILL");
    }
    const last = await place.afterlife(place.drive(team), team);
    expect(endingOf(last)).toMatchObject({ status: "parked", reason: "help" });
    expectSixAttempts(last);
  });

  it("when it is killed right after parking, it stays parked, and a person's resume grants one new set of rounds", async () => {
    const fault = { point: "session.status:after-commit", hit: 1, act: "kill" } as const;
    const killed = await place.afterlife(place.drive(team, { fault }), team);
    expect(killed.ended.signal).toBe("SIGKILL");
    expect(killed.recorded.session).toMatchObject({ status: "parked", reason: "help" });
    expectSixAttempts(killed);

    const resumed = await place.afterlife(place.drive(team), team);
    expect(endingOf(resumed)).toMatchObject({ status: "parked", reason: "help" });
    const rounds = rowsOf(resumed.recorded, "attempt.started").map(({ round }) => round);
    expect(rounds).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
  });

  it("when it is killed in the rounds that a resume granted, it uses up these and gets no more", async () => {
    await place.afterlife(place.drive(team), team);
    for (const hit of [1, 2, 3]) {
      const fault = { point: "attempt.failed:after-commit", hit, act: "kill" } as const;
      const killed = await place.afterlife(place.drive(team, { fault }), team);
      expect(killed.ended.signal).toBe("SIGKILL");
    }
    const last = await place.afterlife(place.drive(team), team);
    expect(endingOf(last)).toMatchObject({ status: "parked", reason: "help" });
    expect(rowsOf(last.recorded, "attempt.started")).toHaveLength(12);
  });
});
