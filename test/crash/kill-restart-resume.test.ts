import { afterEach, beforeEach, expect, it } from "vitest";
import { endingOf, expectTidyFiles } from "./support/expectations.ts";
import { Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";
import { until } from "./support/until.ts";

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

it("start, kill, restart, resume: a session continues at its next step", async () => {
  // Start: a team plans, builds and inspects. The builder records one step and then waits for a door to open.
  const first = place.drive("patient");
  await until("the foundation is on record", async () =>
    (await place.recorded("patient")).marks.has("builder, attempt 1: foundation"),
  );

  // Kill: in the middle of phase 2, as a power cut would.
  first.signal("SIGKILL");
  const killed = await place.afterlife(first, "patient");
  expect(killed.ended.signal).toBe("SIGKILL");
  expect(rowsOf(killed.recorded, "phase.completed")).toEqual([{ kind: "phase.completed", phase: "plan" }]);
  expect(killed.recorded.session?.status).toBe("running");

  // Restart: a new process, the same key. Resume: it continues after the last recorded step.
  place.openDoor();
  const second = await place.afterlife(place.drive("patient"), "patient");

  // Phase 1 did not run again, and neither did the builder's recorded step.
  expect(killed.marks).toEqual([
    "planner, attempt 1: measure",
    "planner, attempt 1: draw",
    "builder, attempt 1: foundation",
  ]);
  expect(second.marks).toEqual(["builder, attempt 1: walls", "inspector, attempt 1: report"]);

  // The crash used up no attempt.
  expect(rowsOf(second.recorded, "attempt.started").map(({ persona }) => persona)).toEqual([
    "planner",
    "builder",
    "inspector",
  ]);

  // The result equals that of an undisturbed run, and every file on disk is valid.
  expect(endingOf(second)).toEqual({
    status: "completed",
    results: {
      plan: {
        planner: {
          summary: "planner did 2 steps",
          outputs: { measure: "measure by planner", draw: "draw by planner" },
        },
      },
      build: {
        builder: {
          summary: "builder did 2 steps",
          outputs: { foundation: "foundation by builder", walls: "walls by builder" },
        },
      },
      inspect: {
        inspector: { summary: "inspector did 1 steps", outputs: { report: "builder did 2 steps" } },
      },
    },
    ticket: null,
    tickets: [],
  });
  await expectTidyFiles(place, "patient");
});
