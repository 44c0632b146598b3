import { expect } from "vitest";
import { type FaultPoint, faultPoints } from "../../src/testing/index.ts";
import {
  expectAsIfNothingHappened,
  lostWith,
  type Undisturbed,
  undisturbedBy,
} from "../crash/support/expectations.ts";
import {
  abandoned,
  claimedWithOpenCall,
  cutShort,
  deletedWithCalls,
  paid,
} from "../crash/support/ledger-scenarios.ts";
import { type Life, Place } from "../crash/support/place.ts";
import { rowsOf } from "../crash/support/recorded.ts";
import {
  addedUser,
  beaten,
  breakerReset,
  compared,
  diverged,
  everyday,
  exported,
  forgotten,
  help,
  imported,
  long,
  notedAct,
  outage,
  paused,
  probed,
  pruned,
  prunedLater,
  putBack,
  redeemedLink,
  renewedLogin,
  restored,
  revokedUser,
  type Scenario,
  said,
  signedIn,
  signedOut,
} from "../crash/support/scenarios.ts";
import {
  accepted,
  checked,
  copied,
  decided,
  delegated,
  deliveredBranch,
  directed,
  edited,
  forked,
  imagined,
  measured,
  merged,
  noted,
  sourced,
} from "../crash/support/team-scenarios.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { treasured } from "./effects.ts";
import { asked } from "./people.ts";

/** The large result is the second file of the everyday team. */
const artifactIsWritten = 2;

/** A point that is not here, or that its scenario does not reach, fails its test. */
export const scenarios: Readonly<Record<FaultPoint, Scenario | readonly Scenario[]>> = {
  "schema.created:before-commit": everyday(1),
  "schema.created:after-commit": everyday(1),
  "owner.beat:before-commit": beaten,
  "owner.beat:after-commit": beaten,
  "session.created:before-commit": everyday(1),
  "session.created:after-commit": everyday(1),
  "session.claimed:before-commit": [everyday(1), claimedWithOpenCall],
  "session.claimed:after-commit": [everyday(1), claimedWithOpenCall],
  "phase.started:before-commit": everyday(1, 3),
  "phase.started:after-commit": everyday(1, 2),
  "attempt.started:before-commit": everyday(1, 5),
  "attempt.started:after-commit": everyday(1, 3),
  "step.function:after-effect": everyday(1, 3, 6),
  "step.function:before-commit": everyday(1, 3, 7),
  "step.function:after-commit": everyday(1, 3, 8),
  "call.waiting:before-commit": asked(1),
  "call.waiting:after-commit": asked(1),
  "effect.intended:before-commit": treasured(1, 3),
  "effect.intended:after-commit": treasured(1, 4),
  "effect.settled:before-commit": treasured(1, 3),
  "effect.settled:after-commit": treasured(1, 4),
  "effect.unknown:before-commit": treasured(1),
  "effect.unknown:after-commit": treasured(1),
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
  // The state directory, and the folder of all sessions.
  "directory:before-fsync": everyday(1, 2),
  // The first is checkpoint_init.json, the last the final execution_state.json.
  "file:before-fsync": everyday(1, artifactIsWritten, 6),
  "file:before-rename": everyday(1, 3, 5),
  "file:after-rename": everyday(1, 3, 5),
  "pack:before-rename": sourced,
  "pack:after-rename": sourced,
  "baseline.measured:before-commit": measured,
  "baseline.measured:after-commit": measured,
  "artifact:before-rename": everyday(1),
  "artifact:after-rename": everyday(1),
  "signal.received:before-commit": paused,
  "signal.received:after-commit": paused,
  "deliver:after-branch": deliveredBranch,
  "deliver:after-push": deliveredBranch,
  "session.delivered:before-commit": deliveredBranch,
  "session.delivered:after-commit": deliveredBranch,
  "session.status:before-commit": everyday(1),
  "session.status:after-commit": everyday(1),
  "session.released:before-commit": everyday(1),
  "session.released:after-commit": everyday(1),
  "journal.indexed:before-commit": long,
  "journal.indexed:after-commit": long,
  "session.restored:before-commit": restored,
  "session.restored:after-commit": restored,
  "session.trusted:before-commit": imported,
  "session.trusted:after-commit": imported,
  "attempt.diverged:before-commit": diverged,
  "attempt.diverged:after-commit": diverged,
  "call.cut:before-commit": cutShort,
  "call.cut:after-commit": cutShort,
  "dependency.waiting:before-commit": outage(1, 3),
  "dependency.waiting:after-commit": outage(1, 3),
  "signal.sent:before-commit": said,
  "signal.sent:after-commit": said,
  // On disk, the state before a transaction of the deletion is the state after the previous one.
  "session.deleted:before-commit": [pruned("long", 1), deletedWithCalls(1)],
  "session.deleted:after-commit": [pruned("long", 1, 2, 3), deletedWithCalls(1, 2)],
  "session.aside:before-rename": pruned("everyday", 1),
  "session.aside:after-rename": pruned("everyday", 1),
  // First to clear the place for the files, then to remove them.
  "session.aside:before-remove": pruned("everyday", 1, 2),
  "session.back:before-rename": putBack,
  "session.back:after-rename": putBack,
  "artifact.aside:after-rename": prunedLater,
  "artifact.aside:before-remove": prunedLater,
  "setup.started:before-commit": copied("installed", 1),
  "setup.started:after-commit": copied("installed", 1),
  "setup.ended:before-commit": copied("installed", 1),
  "setup.ended:after-commit": copied("installed", 1),
  "layer:before-rename": copied("installed", 1),
  "layer:after-rename": copied("installed", 1),
  "scratch:after-copy": copied("crew", 1),
  "scratch:before-remove": copied("crew", 1),
  "kept:after-copy": copied("outsourced", 1),
  // First to clear the place for the files.
  "kept:before-remove": copied("outsourced", 1, 2),
  "export:before-rename": exported,
  "export:after-rename": exported,
  "folders.compared:before-commit": compared,
  "folders.compared:after-commit": compared,
  "space.reclaimed:before-commit": pruned("everyday", 1),
  "space.reclaimed:after-commit": pruned("everyday", 1),
  "breaker.admitted:before-commit": probed,
  "breaker.admitted:after-commit": probed,
  "breaker.recorded:before-commit": [outage(1, 2, 5), help],
  "breaker.recorded:after-commit": [outage(1, 5), help],
  "breaker.reset:before-commit": breakerReset,
  "breaker.reset:after-commit": breakerReset,
  "ticket.raised:before-commit": [outage(1), help],
  "ticket.raised:after-commit": [outage(1), help],
  "ticket.taken:before-commit": help,
  "ticket.taken:after-commit": help,
  "ticket.settled:before-commit": help,
  "ticket.settled:after-commit": help,
  "ticket.forgotten:before-commit": forgotten,
  "ticket.forgotten:after-commit": forgotten,
  "login.added:before-commit": signedIn,
  "login.added:after-commit": signedIn,
  "login.renewed:before-commit": renewedLogin,
  "login.renewed:after-commit": renewedLogin,
  "login.ended:before-commit": signedOut,
  "login.ended:after-commit": signedOut,
  "user.added:before-commit": addedUser,
  "user.added:after-commit": addedUser,
  "link.redeemed:before-commit": redeemedLink,
  "link.redeemed:after-commit": redeemedLink,
  "user.revoked:before-commit": revokedUser,
  "user.revoked:after-commit": revokedUser,
  "act.noted:before-commit": notedAct,
  "act.noted:after-commit": notedAct,
  "call.reserved:before-commit": paid({ estimated: 0, made: ["call 1", "call 2"] }),
  "call.reserved:after-commit": paid({ hit: 2, estimated: 1, made: ["call 1", "call 2"] }),
  // The window of at-least-once: made twice, and both calls are in the ledger.
  "call.settled:before-commit": paid({ estimated: 1, made: ["call 1", "call 1", "call 2"] }),
  "call.settled:after-commit": paid({ hit: 2, estimated: 0, made: ["call 1", "call 2"] }),
  "call.released:before-commit": paid({ estimated: 1, made: ["call 1", "call 2"] }),
  "call.released:after-commit": paid({ estimated: 0, made: ["call 1", "call 2"] }),
  "call.estimated:before-commit": abandoned,
  "call.estimated:after-commit": abandoned,
  "session.directed:before-commit": directed,
  "session.directed:after-commit": directed,
  "session.noted:before-commit": noted,
  "session.noted:after-commit": noted,
  "team.changed:before-commit": accepted,
  "team.changed:after-commit": accepted,
  "decision.recorded:before-commit": decided,
  "decision.recorded:after-commit": decided,
  "phase.edited:before-commit": edited,
  "phase.edited:after-commit": edited,
  "session.forked:before-commit": forked(1),
  "session.forked:after-commit": forked(1),
  "persona.reused:before-commit": forked(1),
  "persona.reused:after-commit": forked(1),
  // The groups: the plan, the two parallel personas, the one that waits for them, and the review.
  "group.merged:before-commit": merged(1, 2, 3),
  "group.merged:after-commit": merged(1, 2, 4),
  "attempt.reopened:before-commit": merged(1),
  "attempt.reopened:after-commit": merged(1),
  "step.model:before-commit": imagined(1, 2),
  "step.model:after-commit": imagined(1, 2),
  "step.tool:before-commit": imagined(1),
  "step.tool:after-commit": imagined(1),
  // Before healing, after it, and of the persona that waits for others.
  "step.check:before-commit": checked(1, 2),
  "step.check:after-commit": checked(1, 3),
  "step.heal:before-commit": checked(1),
  "step.heal:after-commit": checked(1),
  "step.command:before-commit": delegated(1, 2),
  "step.command:after-commit": delegated(1),
  "budget.alerted:before-commit": paid({ estimated: 0, made: ["call 1", "call 2"] }),
  "budget.alerted:after-commit": paid({ estimated: 0, made: ["call 1", "call 2"] }),
};

/** At these points the running step has had its effect and no record: the window of at-least-once. */
function isInTheWindow(point: FaultPoint, hit: number, { team }: Scenario): boolean {
  const window: readonly FaultPoint[] = [
    "step.function:after-effect",
    "step.function:before-commit",
    "step.command:before-commit",
    "artifact:before-rename",
    "artifact:after-rename",
    "journal.indexed:before-commit",
  ];
  return (
    window.includes(point) ||
    (point === "file:before-fsync" && hit === artifactIsWritten) ||
    // Only with the row of a step; the call of a tracker is no step.
    (point === "breaker.recorded:before-commit" && team === "dependent")
  );
}

/** The outcome of each scenario without a kill. */
const undisturbed = new Map<string, Promise<Undisturbed>>();

async function runUndisturbed({ team, options, story, before }: Scenario): Promise<Undisturbed> {
  const place = new Place();
  try {
    place.openDoor();
    if (story === undefined) return await undisturbedBy(place, place.drive(team, options), team);
    await before?.(place);
    return await undisturbedBy(place, story.tell(place), story.key);
  } finally {
    await place.remove();
  }
}

/** Kills a process when it reaches the point for the n-th time, and checks the outcome of the next process. */
export async function killAt(
  point: FaultPoint,
  scenario: Scenario,
  hit: number,
): Promise<"killed" | "not reached"> {
  const { team, options, before, victim, meanwhile, recover, story } = scenario;
  const [name, key] = [story?.name ?? team, story?.key ?? team];
  if (!undisturbed.has(name)) undisturbed.set(name, runUndisturbed(scenario));
  const expected = await (undisturbed.get(name) as Promise<Undisturbed>);
  const place = new Place();
  try {
    await before?.(place);
    const fault = { point, hit, act: "kill" } as const;
    const program = (victim ?? story?.tell)?.(place, fault) ?? place.drive(team, { ...options, fault });
    await meanwhile?.(place);
    const life = await place.afterlife(program, key);
    if (life.ended.code === 0) return "not reached";
    expect(life.ended, `killed at ${point}`).toMatchObject({ signal: "SIGKILL", stdout: "" });
    // Scenarios with preparation lose steps there.
    if (before === undefined) orElse("lost", () => expectSmallestLoss(point, hit, scenario, life));

    const isCommitted = point.endsWith(":after-commit");
    if (recover !== undefined) {
      await recover(place, { point, isCommitted, life, undisturbed: expected });
      return "killed";
    }
    place.openDoor();
    await place.afterlife(story?.tell(place) ?? place.drive(team, options), key);
    await expectAsIfNothingHappened(place, key, expected);
    return "killed";
  } finally {
    await place.remove();
  }
}

export interface Reached {
  readonly point: FaultPoint;
  readonly scenario: Scenario;
}

export const reached: readonly Reached[] = (Object.keys(faultPoints) as FaultPoint[]).flatMap((point) =>
  [scenarios[point]].flat().map((scenario) => ({ point, scenario })),
);

/** The most hits that a campaign tries. */
const mostHits = 12;

/** The lowest hit that a scenario did not reach. */
const unreached = new Map<Reached, number>();

/** A scenario that ends like an undisturbed run can be killed at any hit; the others depend on their hits. */
export const pointTrials: readonly Trial[] = reached.map((each) => ({
  title: `${each.point}, team ${each.scenario.team}`,
  run: async (seed) => {
    const { point, scenario } = each;
    const random = seededRandom(seed);
    const chosen = scenario.hits[Math.floor(random() * scenario.hits.length)] ?? 1;
    const isFree = scenario.recover === undefined && random() < 0.7;
    const hit = isFree
      ? 1 + Math.floor(random() * Math.min(mostHits, (unreached.get(each) ?? 99) - 1))
      : chosen;
    if ((await killAt(point, scenario, hit)) === "killed") return 1;
    if (scenario.hits.includes(hit)) throw new Error(`${point} is not reached ${hit} times`);
    unreached.set(each, Math.min(hit, unreached.get(each) ?? hit));
    return 0;
  },
}));

/** At most one running step per persona is lost. */
function expectSmallestLoss(point: FaultPoint, hit: number, scenario: Scenario, life: Life): void {
  const isWindow = isInTheWindow(point, hit, scenario);
  // A failed probe is recorded by its breaker and is no step.
  const isProbe = (mark: string) => !isWindow && scenario.team === "dependent" && mark.endsWith(": call");
  const lost = lostWith(life).filter((mark) => !isProbe(mark));
  expect(new Set(lost.map((mark) => mark.split(",")[0])).size, "one per persona").toBe(lost.length);
  const ended =
    rowsOf(life.recorded, "attempt.completed").length + rowsOf(life.recorded, "attempt.failed").length;
  const underWay = rowsOf(life.recorded, "attempt.started").length - ended;
  const others = underWay - (isBetweenAttempts(point) ? 0 : 1);
  const asDocumented = isWindow ? lost.length > 0 : lost.length === 0 || others > 0;
  expect(asDocumented, `lost: ${lost.join("; ")}`).toBe(true);
}

/** The persona that reaches these points has no running attempt, so every running attempt is of another one. */
function isBetweenAttempts(point: FaultPoint): boolean {
  return (
    point.startsWith("file:") ||
    point === "attempt.started:before-commit" ||
    point === "attempt.failed:after-commit" ||
    point === "attempt.completed:after-commit"
  );
}
