import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import { outageBody } from "../../src/journal/journal-codec.ts";
import type { FaultPoint } from "../../src/testing/index.ts";
import type { DeliverOptions } from "../crash/support/deliver.ts";
import { expectRecordedStepsRanOnce, expectSixAttempts } from "../crash/support/expectations.ts";
import { type Life, Place } from "../crash/support/place.ts";
import type { Program } from "../crash/support/program.ts";
import { nothingRecorded, type Recorded, rowsOf } from "../crash/support/recorded.ts";
import { dependency } from "../crash/support/teams.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";

const team = "luckless";
/** The clock of each next process is ahead, so that it takes over a probe and a ticket of a killed one. */
const laterMs = 120_000;
const mostKills = 8;

const commits = <Name extends string>(...names: Name[]) =>
  names.flatMap((name) => [`${name}:before-commit`, `${name}:after-commit`] as const);
/** Every commit that counts or decides something before a ticket is delivered. */
const transitions = {
  attempt: [...commits("attempt.started", "step.function", "attempt.failed"), "step.function:after-effect"],
  round: commits("attempt.failed", "attempt.started"),
  breaker: commits("breaker.admitted", "breaker.recorded", "dependency.waiting"),
  ticket: commits("ticket.raised", "ticket.taken", "ticket.settled"),
} as const satisfies Record<string, readonly FaultPoint[]>;
type Group = keyof typeof transitions | "any time";

type Kill =
  | { readonly group: keyof typeof transitions; readonly point: FaultPoint; readonly hit: number }
  | { readonly group: "any time"; readonly afterMs: number };

/** One session from its start to the delivery of its ticket, through kill after kill: six attempts, one ticket. */
export async function killWhileAttemptsAreCounted(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const place = new Place();
  let kills = 0;
  let kill: Kill | undefined;
  try {
    let recorded: Recorded | undefined;
    while (!isDone(place, recorded)) {
      expect(place.lives.length, "lives without an end").toBeLessThan(20);
      kill = kills < mostKills ? planKill(random, recorded) : undefined;
      const program = begin(place, recorded, kill);
      if (kill?.group === "any time") {
        await until("the process works", () => program.isReady || !program.isAlive);
        await pass(kill.afterMs);
        program.signal("SIGKILL");
      }
      const { ended, recorded: left } = await place.afterlife(program, team);
      if (ended.signal === "SIGKILL" && kill !== undefined) kills += 1;
      recorded = left;
    }
    expectSixAttemptsAndOneTicket(place);
    return kills;
  } catch (cause) {
    throw new Error(`seed ${seed}, last kill ${JSON.stringify(kill)}`, { cause });
  } finally {
    await place.remove();
  }
}

const isParked = (recorded: Recorded | undefined): boolean => recorded?.session?.status === "parked";
const isDone = (place: Place, recorded: Recorded | undefined): boolean =>
  isParked(recorded) && place.isAllDelivered();

/** Driving a parked session is a person's resume and grants new rounds; then another process delivers. */
function begin(place: Place, recorded: Recorded | undefined, kill: Kill | undefined): Program {
  const fault =
    kill === undefined || kill.group === "any time"
      ? undefined
      : ({ point: kill.point, hit: kill.hit, act: "kill" } as const);
  const later = { laterMs: place.lives.length * laterMs };
  if (!isParked(recorded))
    return place.drive(team, { fault, breaker: { threshold: 2, cooldownMs: 100 }, ...later });
  return place.run("deliver.ts", { stateDir: place.stateDir, fault, ...later } satisfies DeliverOptions);
}

function planKill(random: () => number, recorded: Recorded = nothingRecorded): Kill {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const started = rowsOf(recorded, "attempt.started").length;
  const failed = rowsOf(recorded, "attempt.failed").length;
  const inFirstRound = started < 4 && failed < 3;
  const groups: Group[] = isParked(recorded)
    ? ["ticket", "any time"]
    : ["attempt", "breaker", "breaker", "ticket", "any time", inFirstRound ? "round" : "attempt"];
  const group = pick(groups);
  if (group === "any time") return { group, afterMs: random() * 300 };
  const point = pick<FaultPoint>(transitions[group]);
  if (group !== "round") return { group, point, hit: group === "ticket" ? 1 : 1 + Math.floor(random() * 2) };
  // The third failure ends the first round; the fourth attempt begins the second.
  return { group, point, hit: point.startsWith("attempt.failed") ? 3 - failed : 4 - started };
}

function expectSixAttemptsAndOneTicket(place: Place): void {
  const last = place.lives.at(-1) as Life;
  orElse("repeated", () => expectSixAttempts(last));
  expect(rowsOf(last.recorded, "session.status")).toMatchObject([{ status: "parked", reason: "help" }]);
  expectRecordedStepsRanOnce(place.lives);
  const outages = last.recorded.rows.filter(({ body }) => body.startsWith(outageBody));
  expect(outages).toHaveLength(2);
  expect(place.breaker(dependency)).toEqual({ state: { kind: "closed", failures: 0 }, notBefore: null });
  const tickets = [...place.deliveries().keys()];
  orElse("repeated", () => expect(tickets).toHaveLength(1));
  expect(readdirSync(join(place.stateDir, "tickets"))).toEqual([`${tickets[0]}.md`]);
}
