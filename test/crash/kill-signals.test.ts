import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Maestro } from "../../src/api/open.ts";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import { endingOf } from "./support/expectations.ts";
import { open } from "./support/package.ts";
import { Place } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import { openStore, rowsOf } from "./support/recorded.ts";
import { stopBetweenCommits } from "./support/stop.ts";
import { until } from "./support/until.ts";

const foundation = "builder, attempt 1: foundation";
const team = "patient";

let place: Place;
/** Of this process, which only sends signals. */
let maestro: Maestro;
beforeEach(async () => {
  place = new Place();
  maestro = await open({ stateDir: place.stateDir });
});
afterEach(async () => {
  await maestro.close();
  await place.remove();
});

/** A driver in the middle of phase 2. */
async function busyDriver(point?: FaultPoint): Promise<Program> {
  const driver = place.drive(team, point === undefined ? {} : { fault: { point, hit: 1, act: "kill" } });
  await until("the foundation is on record", async () =>
    (await place.recorded("patient")).marks.has(foundation),
  );
  return driver;
}

async function untilReceived(count: number): Promise<void> {
  await until("the driver has received it", async () => (await received()).length === count);
}

async function received(): Promise<string[]> {
  return rowsOf(await place.recorded(team), "signal.received").map(({ signal }) => signal.action);
}

describe("a signal from another process", () => {
  it("pause takes effect at the next step, and a resume continues from there", async () => {
    const driver = await busyDriver();
    await maestro.pause(team);
    await untilReceived(1);
    place.openDoor();
    expect(endingOf(await place.afterlife(driver, team))).toMatchObject({ status: "paused" });
    expect(place.marks.at(-1)).toBe(foundation);
    expect((await maestro.find(team)).status).toBe("paused");

    const resumed = await place.afterlife(place.drive(team), team);
    expect(endingOf(resumed)).toMatchObject({ status: "completed" });
    expect(resumed.marks).toEqual(["builder, attempt 1: walls", "inspector, attempt 1: report"]);
    expect(rowsOf(resumed.recorded, "attempt.started"), "a pause uses up no attempt").toHaveLength(3);
  });

  it("cancel ends the running step and is final", async () => {
    const driver = await busyDriver();
    await maestro.cancel(team);
    expect(endingOf(await place.afterlife(driver, team))).toMatchObject({ status: "canceled" });
    const again = await place.afterlife(place.drive(team), team);
    expect(again.ended.stderr).toContain("SessionCanceled");
    expect(again.marks).toEqual([]);
    await expect(maestro.cancel(team)).rejects.toThrow(/canceled/);
  });

  it("cancel after pause leaves the session canceled, not paused", async () => {
    const driver = await busyDriver();
    await maestro.pause(team);
    await untilReceived(1);
    await maestro.cancel(team);
    expect(endingOf(await place.afterlife(driver, team))).toMatchObject({ status: "canceled" });
    expect((await maestro.find(team)).status).toBe("canceled");
  });

  it("pause stops a persona that catches every error, and its return value is not recorded", async () => {
    const driver = place.drive("stubborn");
    await until("it has begun", () => place.marks.length === 1);
    await maestro.pause("stubborn");
    await until("the driver has received it", async () =>
      (await place.recorded("stubborn")).rows.some(({ kind }) => kind === "signal.received"),
    );
    place.openDoor();
    expect(endingOf(await place.afterlife(driver, "stubborn"))).toMatchObject({ status: "paused" });
    const resumed = await place.afterlife(place.drive("stubborn"), "stubborn");
    expect(endingOf(resumed)).toMatchObject({ status: "completed" });
    expect(resumed.marks).toEqual(["improviser, attempt 1: continue"]);
  });

  it("cancel is not lost when it is sent while the session parks", async () => {
    const store = openStore(place.stateDir);
    const driver = place.drive("hopeless");
    await until("the session is there", async () => (await store.findSession("hopeless")) !== undefined);
    // Polled without a delay: the time between the last row and the end of the lease is short.
    while ((await store.findSession("hopeless"))?.status !== "parked") await new Promise(setImmediate);
    await stopBetweenCommits(driver, place.stateDir);
    await maestro.cancel("hopeless");
    driver.signal("SIGCONT");
    await store.close();
    await driver.ended;
    expect((await maestro.find("hopeless")).status).toBe("canceled");
  });
});

describe("a signal becomes exactly one row although its driver is killed", () => {
  it.each<FaultPoint>(["signal.received:before-commit", "signal.received:after-commit"])(
    "the next driver cancels after a kill at %s",
    async (point) => {
      const driver = await busyDriver(point);
      await maestro.cancel(team);
      expect((await place.afterlife(driver, team)).ended.signal).toBe("SIGKILL");
      const next = await place.afterlife(place.drive(team), team);
      expect(endingOf(next)).toMatchObject({ status: "canceled" });
      expect(next.marks).toEqual([]);
      expect(await received()).toEqual(["cancel"]);
      await expectEmptyInbox();
    },
  );

  it.each<FaultPoint>(["signal.received:before-commit", "signal.received:after-commit"])(
    "a recovery obeys the pause after a kill at %s, and a person's resume revokes it",
    async (point) => {
      const driver = await busyDriver(point);
      await maestro.pause(team);
      expect((await place.afterlife(driver, team)).ended.signal).toBe("SIGKILL");

      const rescuer = place.recover(team);
      await until("it is paused", async () => (await maestro.find(team)).status === "paused");
      await rescuer.end();
      expect(place.marks.at(-1)).toBe(foundation);

      place.openDoor();
      expect(endingOf(await place.afterlife(place.drive(team), team))).toMatchObject({ status: "completed" });
      expect(await received()).toEqual(["pause"]);
      await expectEmptyInbox();
    },
  );
});

async function expectEmptyInbox(): Promise<void> {
  const store = openStore(place.stateDir);
  expect(await store.reports.hasSignals((await maestro.find(team)).id)).toBe(false);
  await store.close();
}
