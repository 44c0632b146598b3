import { describe, expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const hourMs = 3_600_000;
const done = { summary: "done" };

/** Does something that long into the next wait of its kind. */
function during(lives: Lives, wait: "wait" | "attempt.failed", ms: number, act: () => void): void {
  lives.onEvent = (event) => {
    if (wait === "wait" ? event.kind !== "step" || event.step !== "wait" : event.kind !== wait) return;
    lives.onEvent = () => {};
    void lives.clock.sleep(ms).then(act);
  };
}

function sleeper(lives: Lives) {
  return async ({ step, sleep }: PersonaContext) => {
    await step("before", lives.effect("before", 1));
    await sleep(hourMs);
    await step("after", lives.effect("after", 1));
    return done;
  };
}

describe("a wait", () => {
  test("lasts as long as requested, and the steps around it run once", async () => {
    const lives = new Lives();
    expect((await lives.live(sleeper(lives))).status).toBe("completed");
    expect(lives.waitedMs).toBe(hourMs);
    expect(lives.ran).toEqual(["before", "after"]);
    const waits = lives.rows("step").filter((event) => event.kind === "step" && event.step === "wait");
    expect(waits, "a watcher can count down").toMatchObject([
      { until: new Date(lives.clock.now()).toISOString() },
    ]);
  });

  test("ends at once when its process ends, and only the remainder is waited afterwards", async () => {
    const lives = new Lives();
    during(lives, "wait", 20 * 60_000, () => lives.end());
    expect((await lives.live(sleeper(lives))).status).toBe("running");
    expect(lives.waitedMs).toBe(20 * 60_000);
    // Ten minutes pass while no process runs.
    await lives.clock.advance(10 * 60_000);
    expect((await lives.live(sleeper(lives))).status).toBe("completed");
    expect(lives.waitedMs).toBe(30 * 60_000);
    expect(lives.ran).toEqual(["before", "after"]);
  });

  test("that is already over is not waited", async () => {
    const lives = new Lives();
    during(lives, "wait", 60_000, () => lives.end());
    await lives.live(sleeper(lives));
    await lives.clock.advance(2 * hourMs);
    await lives.live(sleeper(lives));
    expect(lives.waitedMs).toBe(0);
  });

  test.each([
    ["an hour back", -hourMs],
    ["a year back", -365 * 24 * hourMs],
  ])("is never longer than its original length, though the clock was set %s", async (_, jumpMs) => {
    const lives = new Lives();
    during(lives, "wait", 10 * 60_000, () => lives.end());
    await lives.live(sleeper(lives));
    lives.clock.jump(jumpMs);
    expect((await lives.live(sleeper(lives))).status).toBe("completed");
    expect(lives.waitedMs).toBe(hourMs);
  });

  test("begins anew once at most when the clock is set back while the session rests", async () => {
    const lives = new Lives();
    during(lives, "wait", 60_000, () => lives.clock.jump(-hourMs));
    await lives.live(sleeper(lives));
    // The clock shows an hour less than has passed.
    expect(lives.waitedMs).toBeLessThanOrEqual(hourMs);
    expect(lives.ran).toEqual(["before", "after"]);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 400 * 24 * hourMs])(
    "of %s ms is refused",
    async (ms) => {
      const lives = new Lives();
      const result = await lives.live(
        async ({ sleep }) => {
          await sleep(ms);
          return done;
        },
        { attempts: { max: 1 }, rounds: { max: 1 } },
      );
      expect(result).toMatchObject({ status: "parked", reason: "help" });
      expect(lives.waitedMs).toBe(0);
    },
  );
});

describe("the wait between two attempts", () => {
  const failing = async ({ failures }: PersonaContext) => {
    if (failures.length < 2) throw new Error("not yet");
    return done;
  };
  const options = { attempts: { max: 3, baseDelayMs: 5_000, maxDelayMs: 5_000 } };

  test("lasts as configured", async () => {
    const lives = new Lives();
    expect((await lives.live(failing, options)).status).toBe("completed");
    expect(lives.waitedMs).toBe(10_000);
  });

  test("survives a restart, and only the remainder is waited", async () => {
    const lives = new Lives();
    during(lives, "attempt.failed", 2_000, () => lives.end());
    expect((await lives.live(failing, options)).status).toBe("running");
    expect(lives.waitedMs).toBe(2_000);
    await lives.clock.advance(1_000);
    await lives.live(failing, options);
    expect(lives.waitedMs).toBe(2_000 + 5_000);
  });

  test("is never longer than its original length, though the clock was set back", async () => {
    const lives = new Lives();
    during(lives, "attempt.failed", 2_000, () => lives.end());
    await lives.live(failing, options);
    lives.clock.jump(-hourMs);
    await lives.live(failing, options);
    expect(lives.waitedMs).toBe(5_000 + 5_000);
  });
});
