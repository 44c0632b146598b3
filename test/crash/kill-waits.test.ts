import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordedRow } from "../../src/journal/journal.ts";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import { endingOf } from "./support/expectations.ts";
import { type Life, Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";
import { until } from "./support/until.ts";

const waitMs = 1_500;
/** Timers may fire less than a millisecond early, and recorded times are whole milliseconds. */
const timerMs = 1;

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const kill = (point: FaultPoint, hit = 1) =>
  ({ fault: { point, hit, act: "kill" }, delayMs: waitMs }) as const;
const lastOf = ({ recorded }: Life, kind: string) =>
  recorded.rows.findLast((row) => row.kind === kind) as RecordedRow;
const sinceClaim = (life: Life, row: RecordedRow) => row.at - lastOf(life, "session.claimed").at;

describe("a wait whose process is killed", () => {
  it("ctx.sleep continues after a restart and ends at its original time", async () => {
    const killed = await place.afterlife(place.drive("sleepy", kill("step.wait:after-commit")), "sleepy");
    expect(killed.ended.signal).toBe("SIGKILL");
    const resumed = await place.afterlife(place.drive("sleepy"), "sleepy");
    const [began, ended] = [lastOf(resumed, "step.wait"), lastOf(resumed, "step.function")];
    expect(ended.at - began.at, "not shorter than it was meant").toBeGreaterThanOrEqual(waitMs);
    expect(sinceClaim(resumed, ended), "not all of it again").toBeLessThan(waitMs);
  });

  it("ctx.sleep ends at once when its time passed while no process ran", async () => {
    const killed = await place.afterlife(place.drive("sleepy", kill("step.wait:after-commit")), "sleepy");
    await until("its time has passed", () => Date.now() > lastOf(killed, "step.wait").at + waitMs);
    const resumed = await place.afterlife(place.drive("sleepy"), "sleepy");
    expect(sinceClaim(resumed, lastOf(resumed, "step.function"))).toBeLessThan(waitMs / 2);
    expect(resumed.recorded.rows.filter(({ kind }) => kind === "step.wait")).toHaveLength(1);
  });

  it("the wait before the next attempt continues after a restart", async () => {
    const killed = await place.afterlife(
      place.drive("hopeless", kill("attempt.failed:after-commit")),
      "hopeless",
    );
    const [failed] = rowsOf(killed.recorded, "attempt.failed");
    const wait = failed !== undefined && "wait" in failed.next ? failed.next.wait : undefined;
    const resumed = await place.afterlife(
      place.drive("hopeless", kill("attempt.started:after-commit")),
      "hopeless",
    );
    const next = lastOf(resumed, "attempt.started");
    expect(rowsOf(resumed.recorded, "attempt.started")).toHaveLength(2);
    expect(wait?.waitMs).toBe(waitMs);
    // The wait began with the decision, just before its row.
    expect(next.at, "not shorter than it was meant").toBeGreaterThanOrEqual(
      (wait?.notBefore ?? Infinity) - timerMs,
    );
    expect(sinceClaim(resumed, next), "not all of it again").toBeLessThan(waitMs);
  });

  it("the wait before a repeated call continues after a restart and grants no further try", async () => {
    const team = "shaky";
    for (let waits = 1; waits <= 2; waits += 1) {
      const killed = await place.afterlife(place.drive(team, kill("step.wait:after-commit")), team);
      expect(killed.ended.signal).toBe("SIGKILL");
    }
    const resumed = await place.afterlife(place.drive(team, { delayMs: waitMs }), team);
    expect(endingOf(resumed)).toMatchObject({ status: "completed" });
    expect(place.marks.filter((mark) => mark === "asked the third")).toHaveLength(3);
    expect(rowsOf(resumed.recorded, "attempt.started")).toHaveLength(3);
    expect(resumed.recorded.rows.filter(({ kind }) => kind === "step.wait")).toHaveLength(2);
    const [began, ended] = [lastOf(resumed, "step.wait"), lastOf(resumed, "step.function")];
    expect(ended.at - began.at, "not shorter than it was meant").toBeGreaterThanOrEqual(waitMs - timerMs);
    expect(sinceClaim(resumed, ended), "not all of it again").toBeLessThan(waitMs);
  });
});
