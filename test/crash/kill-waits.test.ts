import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordedRow } from "../../src/journal/journal.ts";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import { endingOf } from "./support/expectations.ts";
import { type Life, Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";
import { until } from "./support/until.ts";

const waitMs = 1_500;
/** Timers may be early by less than a millisecond, and times are whole ones. */
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
  it("ctx.sleep: goes on where it was, and ends when it would have ended", async () => {
    const killed = await place.afterlife(place.drive("sleepy", kill("step.wait:after-commit")), "sleepy");
    expect(killed.ended.signal).toBe("SIGKILL");
    const resumed = await place.afterlife(place.drive("sleepy"), "sleepy");
    const [began, ended] = [lastOf(resumed, "step.wait"), lastOf(resumed, "step.function")];
    expect(ended.at - began.at, "not shorter than it was meant").toBeGreaterThanOrEqual(waitMs);
    expect(sinceClaim(resumed, ended), "not all of it again").toBeLessThan(waitMs);
  });

  it("ctx.sleep: is over at once when its time passed while nothing ran", async () => {
    const killed = await place.afterlife(place.drive("sleepy", kill("step.wait:after-commit")), "sleepy");
    await until("its time has passed", () => Date.now() > lastOf(killed, "step.wait").at + waitMs);
    const resumed = await place.afterlife(place.drive("sleepy"), "sleepy");
    expect(sinceClaim(resumed, lastOf(resumed, "step.function"))).toBeLessThan(waitMs / 2);
    expect(resumed.recorded.rows.filter(({ kind }) => kind === "step.wait")).toHaveLength(1);
  });

  it("the wait before the next attempt: goes on where it was", async () => {
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
    // It began when it was decided, a moment before its row.
    expect(next.at, "not shorter than it was meant").toBeGreaterThanOrEqual(
      (wait?.notBefore ?? Infinity) - timerMs,
    );
    expect(sinceClaim(resumed, next), "not all of it again").toBeLessThan(waitMs);
  });

  it("the wait before a call is repeated: goes on where it was, and grants no further try", async () => {
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
