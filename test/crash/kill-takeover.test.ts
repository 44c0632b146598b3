import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endingOf, expectTidyFiles, lostWith } from "./support/expectations.ts";
import { Place } from "./support/place.ts";
import { rowsOf } from "./support/recorded.ts";
import { stopBetweenCommits } from "./support/stop.ts";
import { until } from "./support/until.ts";

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const foundation = "builder, attempt 1: foundation";

describe("when a driver is killed", () => {
  it("a running process with recovery takes over within 2 s and repeats no recorded step", async () => {
    const driver = place.drive("patient");
    await until("the foundation is on record", async () =>
      (await place.recorded("patient")).marks.has(foundation),
    );
    const rescuer = place.recover("patient");
    await until("the rescuer is there", () => rescuer.isReady);
    expect(
      (await place.recorded("patient")).rows.filter(({ kind }) => kind === "session.claimed"),
    ).toHaveLength(1);

    const killedAt = Date.now();
    await driver.end();
    place.openDoor();
    await untilStatus("patient", "completed");

    const recorded = await place.recorded("patient");
    const claims = recorded.rows.filter(({ kind }) => kind === "session.claimed");
    expect(rowsOf(recorded, "session.claimed").map(({ cause }) => cause)).toEqual(["start", "recovery"]);
    expect((claims[1]?.at ?? Infinity) - killedAt).toBeLessThan(2_000);
    expect(place.marks).toEqual([
      "planner, attempt 1: measure",
      "planner, attempt 1: draw",
      foundation,
      "builder, attempt 1: walls",
      "inspector, attempt 1: report",
    ]);
  });

  it("a process with recovery that starts later takes over as soon as it opens", async () => {
    const driver = place.drive("patient");
    await until("the foundation is on record", async () =>
      (await place.recorded("patient")).marks.has(foundation),
    );
    await driver.end();
    place.openDoor();
    place.recover("patient");
    await untilStatus("patient", "completed");
    expect(place.marks).toHaveLength(5);
  });

  it("a process with recovery finishes the files of a session whose driver died right after its last row", async () => {
    const fault = { point: "session.status:after-commit", hit: 1, act: "kill" } as const;
    const killed = await place.afterlife(place.drive("hopeless", { fault }), "hopeless");
    expect(killed.recorded.session?.status).toBe("parked");
    const rescuer = place.recover("hopeless");
    await until("the rescuer is there", () => rescuer.isReady);
    await until("the files are finished", () =>
      expectTidyFiles(place, "hopeless").then(
        () => true,
        () => false,
      ),
    );
    expect((await place.recorded("hopeless")).session).toMatchObject({ status: "parked", reason: "help" });
    expect(place.marks).toHaveLength(6);
  });
});

describe("two processes with recovery", () => {
  it("take over from each other: a stopped one writes nothing when it wakes up, and takes over when the other is killed", async () => {
    const starter = place.drive("restless");
    await until("a step is recorded", async () => (await place.recorded("restless")).marks.size === 1);
    await starter.end();
    const first = place.recover("restless", { leaseMs: 1_000 });
    await untilClaims(2);
    const second = place.recover("restless", { leaseMs: 1_000 });
    await until("the second is there", () => second.isReady);

    await stopBetweenCommits(first, place.stateDir);
    await untilClaims(3);
    first.signal("SIGCONT");
    const { rows } = await place.recorded("restless");
    const takenOver = rows.at(-1)?.epoch;
    // Longer than the first needs to write, to send a heartbeat and to look for work.
    await untilRowsAfter((rows.at(-1)?.seq ?? 0) + 40);
    const meanwhile = (await place.recorded("restless")).rows.slice(rows.length);
    expect(new Set(meanwhile.map(({ epoch }) => epoch)), "only the second writes").toEqual(
      new Set([takenOver]),
    );
    expect(first.isAlive, "the first lives").toBe(true);

    await second.end();
    await untilClaims(4);
    place.openDoor();
    await untilStatus("restless", "completed");
    expect(first.isAlive, "the first lives").toBe(true);
    expect(place.marks).toEqual(["watcher, attempt 1: arrive", "watcher, attempt 1: enter"]);
    const recorded = await place.recorded("restless");
    expect(rowsOf(recorded, "attempt.started")).toHaveLength(1);
    const owners = rowsOf(recorded, "session.claimed").map(({ owner }) => owner);
    expect(owners[3], "the first again").toBe(owners[1]);
  });
});

describe("a session that kills every process that drives it", () => {
  it("is recovered 5 times, then parked for help and left alone until a person resumes it", async () => {
    const starter = await place.afterlife(place.drive("poison"), "poison");
    expect(starter.ended.signal).toBe("SIGKILL");
    for (let recovery = 1; recovery <= 5; recovery += 1) {
      const rescuer = await place.afterlife(place.recover("poison"), "poison");
      expect(rescuer.ended.signal, `recovery ${recovery}`).toBe("SIGKILL");
    }
    expect(place.marks).toEqual(Array(6).fill("jump"));

    const sixth = place.recover("poison");
    await untilStatus("poison", "parked");
    expect(sixth.isAlive).toBe(true);
    expect((await place.recorded("poison")).session).toMatchObject({ status: "parked", reason: "help" });
    // A kill before the release would leave files for the next process to finish.
    await until("the sixth has let go", () => !place.isDriven());
    await sixth.end();

    const rowsBefore = (await place.recorded("poison")).rows.length;
    const seventh = place.recover("poison");
    await until("it has looked for work", () => seventh.isReady);
    expect((await place.recorded("poison")).rows).toHaveLength(rowsBefore);
    expect(place.marks).toHaveLength(6);
    await seventh.end();

    const resumed = await place.afterlife(place.drive("poison"), "poison");
    expect(resumed.ended.signal).toBe("SIGKILL");
    expect(place.marks).toHaveLength(7);

    place.openDoor();
    const mended = await place.afterlife(place.drive("poison"), "poison");
    expect(endingOf(mended)).toMatchObject({ status: "completed" });
    expect(rowsOf(mended.recorded, "attempt.started")).toHaveLength(1);
    expect(lostWith(mended)).toEqual([]);
  });
});

async function untilClaims(count: number): Promise<void> {
  await until(
    `the session is claimed ${count} times`,
    async () => rowsOf(await place.recorded("restless"), "session.claimed").length === count,
    { withinMs: 20_000 },
  );
}

async function untilRowsAfter(seq: number): Promise<void> {
  await until(
    "the driver has run for a while",
    async () => ((await place.recorded("restless")).rows.at(-1)?.seq ?? 0) > seq,
  );
}

async function untilStatus(team: "patient" | "poison" | "restless", status: string): Promise<void> {
  await until(
    `the session is ${status}`,
    async () => (await place.recorded(team)).session?.status === status,
  );
}
