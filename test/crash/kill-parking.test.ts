import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import { createPath, LoopbackJira, searchPath } from "../support/loopback-jira.ts";
import type { Behavior } from "../support/loopback-server.ts";
import { endingOf } from "./support/expectations.ts";
import { deliverAll, expectOneIssueEach } from "./support/one-issue-each.ts";
import type { Life } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import { rowsOf } from "./support/recorded.ts";
import { indiscretions, type TeamName } from "./support/teams.ts";
import { TicketPlace } from "./support/ticket-place.ts";
import { JiraTracker } from "./support/trackers.ts";
import { until } from "./support/until.ts";

const team = "hopeless";
const parked = { status: "parked", reason: "help" };
/** After the deadline of a posted ticket, the lag of a tracker's search, and the cooldown of a breaker. */
const laterMs = 400_000;

let place: TicketPlace<JiraTracker>;
beforeEach(async () => {
  place = await new TicketPlace((now) => new JiraTracker(now)).listen();
});
afterEach(() => place.remove());

const drive = (fault?: FaultPoint, of: TeamName = team): Program =>
  place.drive(of, {
    jira: place.tracker.jira.options,
    laterMs: place.aheadMs,
    ...(fault !== undefined && { fault: { point: fault, hit: 1, act: "kill" } }),
  });

/** Holds after every kill: six attempts, a parked session, one issue. */
async function expectParkedOnce(life: Life): Promise<void> {
  expect(life.recorded.session).toMatchObject(parked);
  expect(rowsOf(life.recorded, "attempt.started")).toHaveLength(6);
  expect(rowsOf(life.recorded, "session.status")).toHaveLength(1);
  await deliverAll(place);
  expectOneIssueEach(place);
  expect(place.tracker.jira.issues).toHaveLength(1);
}

describe("a session that is killed while it parks is parked once and its ticket is delivered once", () => {
  it.each<FaultPoint>(["attempt.failed:after-commit", "ticket.raised:before-commit"])(
    "at %s: neither exists, and the next process does both",
    async (point) => {
      const killed = await place.afterlife(drive(point), team);
      expect(killed.ended.signal).toBe("SIGKILL");
      expect(killed.recorded.session).toMatchObject({ status: "running" });
      expect(place.deliveries().size).toBe(0);
      const next = await place.afterlife(drive(), team);
      expect(endingOf(next)).toMatchObject({ ...parked, ticket: { status: "delivered" } });
      await expectParkedOnce(next);
    },
  );

  it.each<FaultPoint>([
    "ticket.raised:after-commit",
    "session.released:before-commit",
    "session.released:after-commit",
    "ticket.taken:before-commit",
    "ticket.taken:after-commit",
    "ticket.settled:before-commit",
    "ticket.settled:after-commit",
  ])("at %s: both exist, and another process delivers the ticket", async (point) => {
    const killed = await place.afterlife(drive(point), team);
    expect(killed.ended.signal).toBe("SIGKILL");
    expect(place.deliveries().size).toBe(1);
    await expectParkedOnce(killed);
  });

  it.each<[string, Behavior]>([
    ["after the POST created the issue", "answer"],
    ["after the POST was lost", "drop-before"],
  ])("%s", async (_, behavior) => {
    place.tracker.jira.switches.script[createPath] = [behavior];
    const driver = drive();
    place.tracker.jira.server.witness.arrived = () => driver.end();
    const killed = await place.afterlife(driver, team);
    await place.tracker.jira.server.settled();
    expect(killed.ended.signal).toBe("SIGKILL");
    expect(place.tracker.jira.issues).toHaveLength(behavior === "answer" ? 1 : 0);
    await expectParkedOnce(killed);
  });

  it("a process that recovers sessions delivers the ticket by itself", async () => {
    const killed = await place.afterlife(drive("ticket.raised:after-commit"), team);
    const rescuer = place.recover(team, { jira: place.tracker.jira.options, laterMs });
    await until("the ticket is delivered", () => place.isAllDelivered());
    await rescuer.end();
    await expectParkedOnce(await place.afterlife(rescuer, team));
    expect(place.marks).toEqual(killed.marks);
  });
});

describe("a session parks although the tracker is down", () => {
  it.each<[string, Behavior | "not listening"]>([
    ["answers 500", "server-error"],
    ["hangs up", "drop-before"],
    ["asks to wait", "rate-limit"],
    ["does not listen", "not listening"],
  ])("a tracker that %s gets the ticket when it is back", async (_, behavior) => {
    const isThere = behavior !== "not listening";
    if (isThere) place.tracker.jira.switches.script[createPath] = [behavior];
    const jira = { ...place.tracker.jira.options, ...(!isThere && { baseUrl: await unusedAddress() }) };
    const life = await place.afterlife(place.drive(team, { jira }), team);
    expect(endingOf(life)).toMatchObject({ ...parked, ticket: { status: "pending" } });
    expect(place.tracker.jira.server.requests).toHaveLength(isThere ? 1 : 0);
    await expectParkedOnce(life);
  });

  it("a tracker that is down for long opens its breaker, and the ticket waits without loss", async () => {
    const down = (): Record<string, Behavior[]> => ({
      [createPath]: ["server-error"],
      [searchPath]: ["server-error"],
    });
    place.tracker.jira.switches.repeat = true;
    place.tracker.jira.switches.script = down();
    const life = await place.afterlife(drive(), team);
    for (let turn = 2; turn <= 6; turn += 1) {
      place.aheadMs += 100_000;
      await place.deliver(down());
      expect([...place.deliveries().values()]).toMatchObject([{ kind: "pending" }]);
    }
    expect(place.tracker.jira.server.requests, "the sixth is not called").toHaveLength(5);
    place.tracker.jira.switches.repeat = false;
    await expectParkedOnce(life);
  });
});

it("secrets in errors, in their causes and in the brief never reach the tracker", async () => {
  const brief = "Build a bridge with password=open-sesame-1234";
  const life = await place.afterlife(
    place.drive("indiscreet", { jira: place.tracker.jira.options, brief }),
    "indiscreet",
  );
  expect(endingOf(life)).toMatchObject({ ...parked, ticket: { status: "delivered" } });
  const [request, ...others] = place.tracker.jira.server.requests;
  expect(others).toEqual([]);
  const sent = request?.body ?? "";
  for (const [text] of indiscretions)
    expect(sent, "the rest of the text is sent").toContain(text.split(" ")[0]);
  expect(sent.split("[redacted]").length - 1).toBeGreaterThanOrEqual(indiscretions.length + 1);
  for (const secret of [...indiscretions.map(([, secret]) => secret), "open-sesame"])
    expect(sent).not.toContain(secret);
});

/** A port that is no longer in use. */
async function unusedAddress(): Promise<string> {
  const { server } = await LoopbackJira.start();
  const { url } = server;
  await server.close();
  return url;
}
