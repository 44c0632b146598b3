import { afterEach, describe, expect, it } from "vitest";
import { open } from "../../src/maestro.ts";
import { type FaultPoint, faultPoints } from "../../src/state/fault-points.ts";
import { endingOf, expectAsIfNothingHappened, lostWith, type Undisturbed } from "./support/expectations.ts";
import { type Life, Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";
import type { TeamName } from "./support/teams.ts";
import { until } from "./support/until.ts";

interface Scenario {
  readonly team: TeamName;
  /** Which times of reaching the point are the fatal ones. */
  readonly hits: readonly number[];
  /** What has to happen from outside so that the point is reached. */
  readonly meanwhile?: (place: Place) => Promise<void>;
}

const everyday = (...hits: number[]): Scenario => ({ team: "everyday", hits });
const long: Scenario = { team: "long", hits: [1] };
const paused: Scenario = {
  team: "patient",
  hits: [1],
  meanwhile: async (place) => {
    await until("the foundation is laid", () => place.marks.includes("builder, attempt 1: foundation"));
    const maestro = await open({ stateDir: place.stateDir });
    await maestro.pause("patient");
    await maestro.close();
  },
};

/** The large result is the second file of the everyday team. */
const artifactIsWritten = 2;

/** A point that is not here, or that its scenario does not reach, fails its test. */
const scenarios: Readonly<Record<FaultPoint, Scenario>> = {
  "session.created:before-commit": everyday(1),
  "session.created:after-commit": everyday(1),
  "session.claimed:before-commit": everyday(1),
  "session.claimed:after-commit": everyday(1),
  "phase.started:before-commit": everyday(1, 3),
  "phase.started:after-commit": everyday(1, 2),
  "attempt.started:before-commit": everyday(1, 5),
  "attempt.started:after-commit": everyday(1, 3),
  "step.function:after-effect": everyday(1, 3, 6),
  "step.function:before-commit": everyday(1, 3, 7),
  "step.function:after-commit": everyday(1, 3, 8),
  "step.wait:before-commit": everyday(1, 2),
  "step.wait:after-commit": everyday(1, 2),
  "attempt.failed:before-commit": everyday(1),
  "attempt.failed:after-commit": everyday(1),
  "attempt.completed:before-commit": everyday(1, 3),
  "attempt.completed:after-commit": everyday(1, 3),
  "phase.completed:before-commit": everyday(1, 3),
  "phase.completed:after-commit": everyday(1, 3),
  "checkpoint.sealed:before-commit": everyday(1, 3),
  "checkpoint.sealed:after-commit": everyday(1, 3),
  // The first is checkpoint_init.json, the last the final execution_state.json.
  "file:before-fsync": everyday(1, artifactIsWritten, 6),
  "file:before-rename": everyday(1, 3, 5),
  "file:after-rename": everyday(1, 3, 5),
  "artifact:before-rename": everyday(1),
  "artifact:after-rename": everyday(1),
  "message.received:before-commit": paused,
  "message.received:after-commit": paused,
  "session.status:before-commit": everyday(1),
  "session.status:after-commit": everyday(1),
  "session.released:before-commit": everyday(1),
  "session.released:after-commit": everyday(1),
  "journal.indexed:before-commit": long,
  "journal.indexed:after-commit": long,
};

/** Here the step under way has had its effect and not its record: the one window, and nowhere else. */
function isInTheWindow(point: FaultPoint, hit: number): boolean {
  const window: readonly FaultPoint[] = [
    "step.function:after-effect",
    "step.function:before-commit",
    "artifact:before-rename",
    "artifact:after-rename",
    "journal.indexed:before-commit",
  ];
  return window.includes(point) || (point === "file:before-fsync" && hit === artifactIsWritten);
}

describe("SIGKILL at every named fault point: the result equals an uninterrupted run and each recorded step ran once", () => {
  const places: Place[] = [];
  const newPlace = (): Place => {
    const place = new Place();
    places.push(place);
    return place;
  };
  afterEach(async () => {
    for (const place of places.splice(0)) await place.remove();
  });

  const undisturbed = new Map<TeamName, Promise<Undisturbed>>();
  const runUndisturbed = async (team: TeamName): Promise<Undisturbed> => {
    const place = newPlace();
    place.openDoor();
    const life = await place.afterlife(place.drive(team), team);
    return { ending: endingOf(life), marks: life.marks };
  };

  for (const point of Object.keys(faultPoints) as FaultPoint[]) {
    const { team, hits, meanwhile } = scenarios[point] ?? everyday(1);
    it.each(hits)(`${point}, reached %i times: ${faultPoints[point]}`, async (hit) => {
      if (!undisturbed.has(team)) undisturbed.set(team, runUndisturbed(team));
      const expected = await (undisturbed.get(team) as Promise<Undisturbed>);
      const place = newPlace();
      const victim = place.drive(team, { fault: { point, hit, act: "kill" } });
      await meanwhile?.(place);
      const killed = await place.afterlife(victim, team);
      expect(killed.ended, `killed at ${point}`).toMatchObject({ signal: "SIGKILL", stdout: "" });
      expectSmallestLoss(point, hit, killed);

      place.openDoor();
      await place.afterlife(place.drive(team), team);
      await expectAsIfNothingHappened(place, team, expected);
    });
  }
});

/** At most the one step under way; where personas work side by side, one of each. */
function expectSmallestLoss(point: FaultPoint, hit: number, life: Life): void {
  const lost = lostWith(life);
  expect(new Set(lost.map((mark) => mark.split(",")[0])).size, "one a persona").toBe(lost.length);
  const ended =
    rowsOf(life.recorded, "attempt.completed").length + rowsOf(life.recorded, "attempt.failed").length;
  const underWay = rowsOf(life.recorded, "attempt.started").length - ended;
  const asDocumented = isInTheWindow(point, hit) ? lost.length > 0 : lost.length === 0 || underWay > 1;
  expect(asDocumented, `lost: ${lost.join("; ")}`).toBe(true);
}
