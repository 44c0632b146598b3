import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { SessionView } from "../../src/index.ts";
import {
  expectNoPersonaRanAgain,
  expectRecordedStepsRanOnce,
  expectTidyFiles,
} from "../crash/support/expectations.ts";
import { filesLeft } from "../crash/support/onlooker.ts";
import { type Life, Place } from "../crash/support/place.ts";
import type { Program } from "../crash/support/program.ts";
import { nothingRecorded, type Recorded, rowsOf } from "../crash/support/recorded.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { Catalog } from "./support/catalog.ts";

const team = join(import.meta.dirname, "support/phased-team.ts");
const brief = "Build a bridge.";
const key = "phased";
const wantedKills = 50;
const mostKillsOfOne = 8;
const together = 2;
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

function newPlace(): Place {
  const place = new Place();
  places.push(place);
  return place;
}

/** A process of the command line with short waits between retries. */
function maestro(place: Place, args: readonly string[], catalog?: Catalog): Program {
  return place.command(args, {
    PHASED_MARKS: place.marksFile,
    PHASED_RUNS: place.runsFile,
    PHASED_CATALOG: catalog?.url ?? "",
    MAESTRO_L1_BASE_DELAY_MS: "5",
    MAESTRO_L1_MAX_DELAY_MS: "10",
    MAESTRO_L2_BASE_DELAY_MS: "10",
  });
}

async function json<T>(place: Place, ...args: readonly string[]): Promise<T> {
  const { stdout, stderr } = await maestro(place, [...args, "--json"]).ended;
  expect(stderr).toBe("");
  return JSON.parse(stdout) as T;
}

/** The last line of a drive. */
function resultOf({ ended }: Life): { readonly results: unknown; readonly status: string } {
  expect(ended, `stderr: ${ended.stderr}`).toMatchObject({ code: 0, signal: null });
  const { id: _, ...result } = JSON.parse(ended.stdout.trim().split("\n").at(-1) ?? "");
  return result;
}

const asked = (attempt: number) => `architect, attempt ${attempt}: ask the catalog`;
const phaseOne = ["analyst, attempt 1: interview", "analyst, attempt 1: docs/requirements.md"];
/** All effects: before the session parks for help, and after the resume. */
const beforeHelp = [...phaseOne, "architect, attempt 1: outline", ...[1, 2, 3, 4, 5, 6].map(asked)];
const afterHelp = [
  asked(7),
  "architect, attempt 7: docs/design.md",
  "developer, attempt 1: src/bridge.txt",
  "developer, attempt 1: clean up",
  "tester, attempt 1: read",
];

describe("start, checkpoint, failure, resume", () => {
  test("a session that parks for help in phase 2 resumes by its id, skips sealed phase 1 and finishes the rest", async () => {
    const place = newPlace();
    const catalog = await Catalog.down();
    const sessions = join(place.stateDir, "sessions");
    const has = (id: string, file: string) => existsSync(join(sessions, id, file));
    const started = maestro(place, ["run", brief, "--team", team, "--json"], catalog);
    await until("the session has started", () => existsSync(sessions) && readdirSync(sessions).length > 0);
    const id = readdirSync(sessions)[0] ?? "";
    await until("checkpoint_init.json is there", () => has(id, "checkpoint_init.json"));
    expect(await started.ended).toMatchObject({ code: 4 });

    const parked = await json<SessionView>(place, "show", id);
    expect(parked).toMatchObject({ status: "parked", reason: "help", ticket: { status: "delivered" } });
    expect(parked.phases.map(({ status }) => status)).toEqual(["completed", "failed", "pending", "pending"]);
    expect(parked.phases[0]?.gate).toMatchObject({ verdict: "passed" });
    const attempts = parked.phases[1]?.personas[0]?.attempts ?? [];
    expect(attempts).toHaveLength(6);
    for (const { failure } of attempts)
      expect(failure).toMatchObject({
        outage: true,
        message: expect.stringMatching(/ECONNREFUSED/) as string,
      });
    expect(has(id, "checkpoint_requirements.json")).toBe(true);
    expect(has(id, "checkpoint_design.json")).toBe(false);
    const file = join(sessions, id, "checkpoint_requirements.json");
    for (const what of [id, file])
      expect(await maestro(place, ["checkpoints", "verify", what]).ended).toMatchObject({ code: 0 });
    expect(place.marks).toEqual(beforeHelp);

    await catalog.comeUp();
    const resumed = await place.afterlife(maestro(place, ["resume", id, "--json"], catalog), id);
    await catalog.goDown();
    expect(resultOf(resumed)).toMatchObject({ status: "completed" });
    expect(catalog.asked).toBe(1);
    expect(place.marks, "only what was not done").toEqual([...beforeHelp, ...afterHelp]);
    const completed = await json<SessionView>(place, "show", id);
    expect(completed.phases.map(({ status }) => status)).toEqual(Array(4).fill("completed"));
    expect(completed.phases[0]?.personas[0]?.attempts).toHaveLength(1);
    const sealed = await json<{ phase: string; valid: boolean }[]>(place, "checkpoints", id);
    expect(sealed.map(({ phase, valid }) => [phase, valid])).toEqual(
      ["init", "requirements", "design", "implementation", "testing"].map((phase) => [phase, true]),
    );
  });
});

describe("the same session under kills", () => {
  interface Told {
    readonly result: unknown;
    readonly files: unknown;
  }

  /** Drives the session until it parks, and from there to its end, with kills in between. */
  async function tell(
    catalog: Catalog,
    kills: Iterator<Moment>,
  ): Promise<Told & { readonly killed: number }> {
    const place = newPlace();
    let recorded: Recorded = nothingRecorded;
    let killed = 0;
    let last: Life | undefined;
    // A kill right after the last row leaves a completed session without its summary file and its printed result.
    while (recorded.session?.status !== "completed" || last?.ended.signal === "SIGKILL") {
      expect(place.lives.length, "lives without an end").toBeLessThan(2 * mostKillsOfOne);
      const needed = rowsOf(recorded, "session.status").length > 0;
      const all = needed ? [...beforeHelp, ...afterHelp] : beforeHelp;
      const id = recorded.session?.id ?? "";
      const program = needed
        ? maestro(place, ["resume", id, "--json"], catalog)
        : maestro(place, ["run", brief, "--team", team, "--key", key, "--json"], await Catalog.down());
      const moment = killed < mostKillsOfOne ? kills.next().value : undefined;
      if (moment !== undefined) await killAt(moment, program, place, all.length);
      last = await place.afterlife(program, key);
      if (last.ended.signal === "SIGKILL") killed += 1;
      recorded = last.recorded;
    }
    await expectPhaseOneOnce(place, recorded);
    return { result: resultOf(last as Life), files: await filesLeft(place, key), killed };
  }

  async function expectPhaseOneOnce(place: Place, recorded: Recorded): Promise<void> {
    expectRecordedStepsRanOnce(place.lives);
    expectNoPersonaRanAgain(place.lives);
    expect(new Set(place.marks)).toEqual(new Set([...beforeHelp, ...afterHelp]));
    const begun = rowsOf(recorded, "attempt.started").map(({ persona }) => persona);
    expect(begun).toEqual(["analyst", ...Array<string>(7).fill("architect"), "developer", "tester"]);
    const sealed = rowsOf(recorded, "checkpoint.sealed").map(({ phase }) => phase);
    expect(sealed).toEqual(["requirements", "design", "implementation", "testing"]);
    await expectTidyFiles(place, key);
  }

  test(`ends with the same results after ${wantedKills} kills at random moments, and phase 1 runs once (TEST_SEED=${seed})`, {
    timeout: 300_000,
  }, async () => {
    const catalog = await Catalog.down();
    await catalog.comeUp();
    try {
      const undisturbed = await tell(catalog, [].values());
      const random = seededRandom(seed);
      let killed = 0;
      const teller = async (): Promise<void> => {
        for (let session = 1; killed < wantedKills; session += 1) {
          const told = await tell(catalog, moments(random));
          killed += told.killed;
          expect({ ...told, killed: 0 }).toEqual(undisturbed);
          expect(session, "sessions for so few kills").toBeLessThan(wantedKills);
        }
      };
      await Promise.all(Array.from({ length: together }, teller));
      expect(killed).toBeGreaterThanOrEqual(wantedKills);
    } finally {
      await catalog.goDown();
    }
  });
});

interface Moment {
  /** The share of the remaining effects at the kill; none: during start-up. */
  readonly share: number;
  readonly thenMs: number;
}

function* moments(random: () => number): Generator<Moment> {
  for (;;) {
    const isEarly = random() < 0.15;
    yield { share: isEarly ? 0 : random(), thenMs: random() * (isEarly ? 400 : 20) };
  }
}

async function killAt({ share, thenMs }: Moment, program: Program, place: Place, all: number): Promise<void> {
  const done = new Set(place.marks).size;
  const goal = place.marks.length + Math.ceil(share * (all - done));
  await until("the moment has come", () => !program.isAlive || place.marks.length >= goal);
  await pass(thenMs);
  program.signal("SIGKILL");
}
