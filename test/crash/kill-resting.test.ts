import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CrewOptions } from "./support/crew.ts";
import { Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";
import { until } from "./support/until.ts";

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

describe("a process that is killed while its session rests", () => {
  it("leaves nothing to repeat: the next process takes the session when its wait is over", async () => {
    const driver = place.drive("drowsy");
    await until("the session rests", async () => wakeAtOf(await place.recorded("drowsy")) !== undefined);
    const wakeAt = wakeAtOf(await place.recorded("drowsy")) as number;
    await until("it has no driver", () => !place.isDriven());
    await driver.end();
    place.recover("drowsy");
    await until("it is completed", async () => statusOf(await place.recorded("drowsy")) === "completed");
    const recorded = await place.recorded("drowsy");
    expect(rowsOf(recorded, "session.claimed").map(({ cause }) => cause)).toEqual(["start", "wake"]);
    const woken = recorded.rows.findLast(({ kind }) => kind === "session.claimed");
    expect(woken?.at, "not before its time").toBeGreaterThanOrEqual(wakeAt);
    expect(place.marks).toEqual(["dozer, attempt 1: lie down", "dozer, attempt 1: get up"]);
    expect(recorded.rows.filter(({ kind }) => kind === "step.wait")).toHaveLength(1);
    expect(rowsOf(recorded, "attempt.started")).toHaveLength(1);
  });

  it.each(["before-commit", "after-commit"] as const)(
    "is recovered where it was killed %s of the row that lets go",
    async (moment) => {
      const fault = { point: `session.status:${moment}`, hit: 1, act: "kill" } as const;
      const killed = await place.afterlife(place.drive("drowsy", { fault }), "drowsy");
      expect(killed.ended.signal).toBe("SIGKILL");
      place.recover("drowsy");
      await until("it is completed", async () => statusOf(await place.recorded("drowsy")) === "completed");
      expect(place.marks).toEqual(["dozer, attempt 1: lie down", "dozer, attempt 1: get up"]);
    },
  );
});

describe("two processes that take sessions of one team", () => {
  it("never run more of them at once than the limit says, also when one of them is killed", async () => {
    const { stateDir, marksFile: marks } = place;
    const limit = 3;
    const crew = (sessions: number) =>
      place.run("crew.ts", { stateDir, marks, limit, sessions } satisfies CrewOptions);
    const first = crew(60);
    crew(0);
    await until("half of them are done", () => ended().length > 20);
    await first.end();
    crew(0);
    await until("all of them are done", () => countOf("completed") === 60);
    let [running, most] = [0, 0];
    for (const mark of place.marks) {
      running += mark.startsWith("+") ? 1 : -1;
      most = Math.max(most, running);
    }
    // Work that was killed has no end, and is repeated.
    const lost = place.marks.length - 2 * ended().length;
    expect(lost).toBeLessThanOrEqual(limit);
    expect(most - lost).toBeLessThanOrEqual(limit);
    expect(most, "the places are used").toBeGreaterThanOrEqual(limit);
  });
});

const ended = (): string[] => place.marks.filter((mark) => mark.startsWith("-"));

function countOf(status: string): number {
  const database = new DatabaseSync(join(place.stateDir, "maestro.db"), { readOnly: true });
  try {
    const [row] = database.prepare("SELECT count(*) AS count FROM sessions WHERE status = ?").all(status);
    return Number(row?.["count"]);
  } finally {
    database.close();
  }
}

type Recorded = Awaited<ReturnType<Place["recorded"]>>;
const statusOf = ({ session }: Recorded): string | undefined => session?.status;
const wakeAtOf = ({ session }: Recorded): number | undefined =>
  session?.status === "running" ? session.wakeAt : undefined;
