import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Place } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import type { SuspectsOptions } from "./support/suspects.ts";
import { until } from "./support/until.ts";

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

describe("a session that ends its process beside others", () => {
  it.each(["exit", "abort"] as const)(
    "is alone parked for help after process.%s, and no call of the others runs more than twice",
    async (ends) => {
      const last = await lastProcess({ innocents: 3, callMs: 1_500, guiltyStarts: "first", ends });
      expect(last.isAlive).toBe(true);
      expect((await place.recorded("guilty")).session).toMatchObject({ reason: "help" });
      for (const number of [1, 2, 3]) expect(calls(`innocent ${number}`)).toBeLessThanOrEqual(2);
      expect(calls("guilty")).toBe(6);
    },
  );

  it("is not recovered beside a call of more than half a minute, so that call runs no third time", async () => {
    const last = await lastProcess({ innocents: 1, callMs: 35_000, guiltyStarts: "last", ends: "exit" });
    expect(last.isAlive).toBe(true);
    expect((await place.recorded("guilty")).session).toMatchObject({ reason: "help" });
    expect(calls("innocent 1")).toBe(2);
    expect(calls("guilty")).toBe(6);
  });
});

const calls = (label: string): number => place.marks.filter((mark) => mark === label).length;

/** Starts the next process when one has ended, until each session has ended or needs a person. */
async function lastProcess(
  choices: Omit<SuspectsOptions, "stateDir" | "marks" | "isFirst">,
): Promise<Program> {
  const { stateDir, marksFile: marks } = place;
  const keys = Array.from({ length: choices.innocents }, (_, index) => `innocent-${index + 1}`);
  const life = (isFirst: boolean) =>
    place.run("suspects.ts", { stateDir, marks, isFirst, ...choices } satisfies SuspectsOptions);
  const isSettled = async () =>
    (await statusOf("guilty")) === "parked" &&
    (await Promise.all(keys.map(statusOf))).every((status) => status === "completed");
  let program = life(true);
  let lives = 1;
  await until(
    "each session has ended or needs a person",
    async () => {
      if (!program.isAlive && lives < 12) {
        program = life(false);
        lives += 1;
      }
      return isSettled();
    },
    { withinMs: 240_000 },
  );
  return program;
}

const statusOf = async (key: string): Promise<string | undefined> =>
  (await place.recorded(key)).session?.status;
