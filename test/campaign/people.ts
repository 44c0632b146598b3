import { expect } from "vitest";
import type { WaitingView } from "../../src/journal/effect-view.ts";
import type { RecordedRow, Transition } from "../../src/journal/journal.ts";
import { decodeTransition } from "../../src/journal/journal-codec.ts";
import { argumentsOf } from "../../src/journal/waiting-call.ts";
import type { FaultPoint } from "../../src/testing/index.ts";
import type { Act } from "../crash/support/act.ts";
import { endingOf } from "../crash/support/expectations.ts";
import { officeCalls } from "../crash/support/office-team.ts";
import { asOnlooker } from "../crash/support/onlooker.ts";
import { type Life, Place } from "../crash/support/place.ts";
import { rowsOf } from "../crash/support/recorded.ts";
import type { Scenario } from "../crash/support/scenarios.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";

type Received = Extract<Transition, { kind: "signal.received" }>;
type Asked = Extract<Transition, { kind: "call.waiting" }>;

const key = "office";
const mostDrives = 40;

/** Where the process that drives is killed: inside a call, or at a commit around its row. */
export type Kill =
  | { readonly at: "call"; readonly call: string; readonly moment: "before" | "after" }
  | { readonly at: "fault"; readonly point: FaultPoint; readonly hit: number };

/** Points around the row of a waiting call, its approval and its happening, of the process that drives. */
export const drivingPoints: readonly FaultPoint[] = [
  "call.waiting:before-commit",
  "call.waiting:after-commit",
  "session.status:before-commit",
  "session.status:after-commit",
  "session.claimed:after-commit",
  "effect.intended:before-commit",
  "effect.intended:after-commit",
  "step.tool:before-commit",
  "step.tool:after-commit",
  "effect.settled:before-commit",
  "effect.settled:after-commit",
];

/** The same of the process in which a person decides. */
export const decidingPoints: readonly FaultPoint[] = [
  "signal.sent:before-commit",
  "signal.sent:after-commit",
  "session.claimed:before-commit",
  "session.claimed:after-commit",
  "session.status:before-commit",
  "session.status:after-commit",
];

/** A word that a process receives while it drives. */
export const receivingPoints: readonly FaultPoint[] = [
  "signal.received:before-commit",
  "signal.received:after-commit",
];

const summary = [
  "send to Ann, done",
  "file to Bob, done",
  `A person changed the arguments of this call to {"to":"Carl"}.\nsend to Carl, done`,
  "A person did not allow this call: nobody is there",
  "blue",
].join("; ");

/** Which process is killed once: one that drives, from that drive on; the person's own at that call; or one that receives. */
export type Plan =
  | { readonly in: "drive"; readonly from: number; readonly kill: Kill }
  | { readonly in: "decision"; readonly call: number; readonly point: FaultPoint }
  | { readonly in: "receipt"; readonly point: FaultPoint };

/** Drives the session to its end with a person who decides about each call that waits. Returns the kills. */
export async function killAroundCalls(plan: Plan): Promise<number> {
  const place = new Place();
  try {
    const kills = plan.in === "receipt" ? await killReceiver(place, plan.point) : 0;
    place.openDoor();
    return kills + (await finish(place, plan));
  } catch (cause) {
    throw new Error(`plan ${JSON.stringify(plan)}`, { cause });
  } finally {
    await place.remove();
  }
}

async function finish(place: Place, plan?: Plan): Promise<number> {
  let [kills, decided] = [0, 0];
  for (let drives = 1; ; drives += 1) {
    if (drives > mostDrives) throw new Error(`not completed after ${mostDrives} drives`);
    const { waiting, status } = await look(place);
    if (status === "completed") break;
    for (const one of waiting) {
      decided += 1;
      const point = plan?.in === "decision" && plan.call === decided ? plan.point : undefined;
      if (await say(place, one, point)) kills += 1;
    }
    const kill = plan?.in === "drive" && kills === 0 && drives >= plan.from ? plan.kill : undefined;
    if (await live(place, kill)) kills += 1;
  }
  const last = await place.recorded(key);
  const completed = rowsOf(last, "attempt.completed").find(({ persona }) => persona === "clerk");
  orElse("lost", () => expect(completed?.result.summary).toBe(summary));
  expect(rowsOf(last, "attempt.started"), "no attempt is used up").toHaveLength(2);
  expectInOrder(place, plan);
  return kills;
}

/** The other persona keeps the session running at the door, while the first call is approved. */
async function killReceiver(place: Place, point: FaultPoint): Promise<number> {
  const driver = place.drive(key, { fault: { point, hit: 1, act: "kill" } });
  const waits = async () => rowsOf(await place.recorded(key), "call.waiting").length > 0;
  await until("a call waits", waits);
  const { waiting } = await look(place);
  for (const one of waiting) await place.act(wordOn(one, place)).ended;
  const life = await place.afterlife(driver, key);
  expect(life.ended.signal).toBe("SIGKILL");
  expect(place.marks).toEqual([]);
  return 1;
}

/** One process. Whether it was killed. */
async function live(place: Place, kill?: Kill): Promise<boolean> {
  const driver = place.drive(key, {
    ...(kill?.at === "fault" && { fault: { point: kill.point, hit: kill.hit, act: "kill" } as const }),
    ...(kill?.at === "call" && { killIn: { effect: kill.call, moment: kill.moment } }),
  });
  const life = await place.afterlife(driver, key);
  expectApproved(life, place);
  if (life.ended.signal === "SIGKILL") return true;
  expect(["completed", "parked"]).toContain((endingOf(life) as { readonly status: string }).status);
  return false;
}

/** Every call that happened was approved before, with the arguments that it happened with. */
function expectApproved({ recorded }: Life, { marks }: Place): void {
  const approved = recorded.rows.flatMap((row) => {
    const entry = row.kind === "signal.received" ? (decodeTransition(row) as Received) : undefined;
    if (entry?.signal.action !== "approve-call") return [];
    const { call, arguments: edited } = entry.signal;
    const asked = recorded.rows.find(({ seq }) => seq === call) as RecordedRow;
    const { name, call: shown } = decodeTransition(asked) as Asked;
    const { to } = edited ?? argumentsOf(shown);
    return [`${name} to ${to as string}`];
  });
  orElse("repeated", () => expect(approved).toEqual(expect.arrayContaining([...new Set(marks)])));
}

/** In the end each approved call has happened once. One that may be repeated may also have happened right before a kill. */
function expectInOrder({ marks }: Place, plan: Plan | undefined): void {
  const mayRepeat = plan?.in !== "decision";
  orElse("lost", () => expect([...new Set(marks)]).toEqual(officeCalls));
  orElse("repeated", () => {
    for (const call of officeCalls) {
      const times = marks.filter((mark) => mark === call).length;
      expect(times, call).toBeLessThanOrEqual(call.startsWith("file") && mayRepeat ? 2 : 1);
    }
  });
}

const look = (place: Place) =>
  asOnlooker(place, async (maestro) => {
    const known = (await maestro.sessions()).some((session) => session.key === key);
    return known ? maestro.show(key) : { waiting: [], status: "queued" };
  });

/** Whether the process was killed before it could say so. */
async function say(place: Place, one: WaitingView, point: FaultPoint | undefined): Promise<boolean> {
  const act = wordOn(one, place);
  const fault = point && ({ point, hit: 1, act: "kill" } as const);
  const { code, signal, stderr } = await place.act(act, fault).ended;
  if (signal === "SIGKILL") {
    // The signal may be stored: the first word counts, and the same word again changes nothing.
    const { code: again, stderr: said } = await place.act(act).ended;
    if (again !== 0) expect(said).toContain("already");
    return true;
  }
  if (code !== 0) expect(stderr).toContain("already");
  return false;
}

/** The word of a person who looks at the call that is shown. */
function wordOn({ seq, kind, call }: WaitingView, { marks }: Place): Act {
  const session = key;
  if (kind === "question") return { do: "answer", session, call: seq, text: "blue" };
  if (kind === "effect") return { do: "settle", session, step: seq, settlement: settlementOf(call, marks) };
  const { to } = (call as { readonly arguments: { readonly to: string } }).arguments;
  if (to === "Nobody") return { do: "reject call", session, call: seq, note: "nobody is there" };
  if (to === "Wrong") return { do: "approve call", session, call: seq, arguments: { to: "Carl" } };
  return { do: "approve call", session, call: seq };
}

/** By a look at the side file. The call of an intent has the arguments that a person approved. */
function settlementOf(intent: unknown, marks: readonly string[]) {
  const { call } = intent as {
    readonly call: { readonly tool: string; readonly arguments: { readonly to: string } };
  };
  const label = `${call.tool} to ${call.arguments.to}`;
  return marks.includes(label)
    ? ({ happened: true, result: `${label}, done` } as const)
    : ({ happened: false } as const);
}

/** For one named point. */
export const asked = (...hits: number[]): Scenario => ({
  team: key,
  hits,
  before: async () => undefined,
  recover: async (place) => {
    place.openDoor();
    await finish(place);
  },
});

export const peopleTrials: readonly Trial[] = [
  {
    title: "kills around calls that wait for a person",
    run: (seed) => {
      const random = seededRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
      const nth = 1 + Math.floor(random() * 5);
      const calls = officeCalls.map(
        (call) => ({ at: "call", call, moment: random() < 0.5 ? "before" : "after" }) as const,
      );
      const kill: Kill = random() < 0.3 ? pick(calls) : { at: "fault", point: pick(drivingPoints), hit: 1 };
      if (random() < 0.1) return killAroundCalls({ in: "receipt", point: pick(receivingPoints) });
      return random() < 0.6
        ? killAroundCalls({ in: "drive", from: nth, kill })
        : killAroundCalls({ in: "decision", call: nth, point: pick(decidingPoints) });
    },
  },
];
