import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/domain/clock.ts";
import { JournalCorrupt } from "../../../src/domain/errors.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import { defineTeam, HelpNeeded, open, persona, phase } from "../../../src/index.ts";
import type { RecordedRow } from "../../../src/journal/journal.ts";
import { chainHash } from "../../../src/journal/journal-codec.ts";
import { ownSteps } from "../../../src/journal/step-selection.ts";
import { replaySession, SessionJournal } from "../../../src/store/session-journal.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { ThreePhases } from "../../crash/damage-support/three-phases.ts";
import { forgeSeal, forgeStep, rechain } from "../../support/rechain.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-rechained-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state");
}

let original: ThreePhases;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-rechained-"));
  original = await ThreePhases.pausedInTest(join(folder, "state"));
  return () => rmSync(folder, { recursive: true, force: true });
});

const forged = forgeStep("plan first", "plan forged");
const notAsSealed = /rows up to \d+ are not the ones that checkpoint (plan|build) sealed/;

describe("steps of a sealed phase that were changed and chained anew", () => {
  test("are found by checkpoints verify, and the damage names the checkpoint", async () => {
    const session = original.copy(newFolder());
    await session.with(async (maestro) => {
      expect(await maestro.checkpoints(session.id)).toHaveLength(3);
    });
    rechain(session.stateDir, session.id, forged);
    await session.with(async (maestro) => {
      const error: unknown = await maestro.checkpoints(session.id).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(JournalCorrupt);
      expect((error as Error).message).toMatch(notAsSealed);
    });
  });

  test("are found when the heads of later seals were changed with them", async () => {
    const session = original.copy(newFolder());
    rechain(session.stateDir, session.id, (row, hashes) => {
      forged(row);
      forgeSeal("build")(row, hashes);
    });
    await session.with((maestro) =>
      expect(maestro.checkpoints(session.id)).rejects.toThrow(/checkpoint plan sealed/),
    );
  });

  test("are found when the head of the only seal was changed with them, by its checkpoint file", async () => {
    const session = original.copy(newFolder());
    rechain(session.stateDir, session.id, (row, hashes) => {
      if (row.body.includes("build first")) forgeStep("build first", "build forged")(row);
      forgeSeal("build")(row, hashes);
    });
    const checkpoints = await session.with((maestro) => maestro.checkpoints(session.id));
    expect(checkpoints.filter(({ valid }) => !valid)).toMatchObject([
      { phase: "build", problem: "it is not the one the journal knows" },
    ]);
  });

  test.each([
    ["all rows", () => true],
    ["the rows up to the last seal", (seq: number, sealed: number) => seq <= sealed],
  ])("do not pass as copies: %s", async (_, poses) => {
    const session = original.copy(newFolder());
    const last = sealSeqs(session).at(-1) ?? 0;
    rechain(session.stateDir, session.id, (row) => {
      forged(row);
      if (poses(row.seq, last)) row.epoch = -1;
    });
    await session.with((maestro) =>
      expect(maestro.checkpoints(session.id)).rejects.toMatchObject({ name: "JournalCorrupt" }),
    );
  });

  test("are not copied by a fork", async () => {
    const session = original.copy(newFolder());
    rechain(session.stateDir, session.id, forged);
    await session.with(async (maestro) => {
      await expect(maestro.fork(session.id, { at: "build" })).rejects.toThrow(notAsSealed);
      expect(await maestro.sessions()).toHaveLength(1);
    });
  });

  test("are not exported: the export has the files as they were sealed", async () => {
    const session = original.copy(newFolder());
    const sealed = readFileSync(session.file("checkpoint_plan.json"), "utf8");
    rechain(session.stateDir, session.id, forged);
    const file = join(session.stateDir, "..", "export");
    await session.with((maestro) => maestro.exportCheckpoints(session.id, file));
    const { checkpoints } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
      checkpoints: string[];
    };
    expect(checkpoints).toContain(sealed);
    expect(checkpoints.join()).not.toContain("forged");
  });

  test("are not replayed by an attempt that reuses them, also if the head of the last seal was changed with them", async () => {
    const session = original.copy(newFolder());
    rechain(session.stateDir, session.id, (row, hashes) => {
      forged(row);
      forgeSeal("build")(row, hashes);
    });
    const path = join(session.stateDir, "maestro.db");
    const store = new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });
    onTestFinished(() => store.close());
    const id = session.id as SessionId;
    const replay = await replaySession(store, id);
    const listeners = { onRows: undefined, onAlert: () => undefined };
    const journal = new SessionJournal(store, { sessionId: id, epoch: 1 }, replay, listeners);
    const [attempt] = replay.state.phases.get("plan")?.personas.get("worker")?.attempts ?? [];
    const started = attempt?.started ?? 0;
    await expect(journal.select([{ ...ownSteps(started), until: started + 2 }])).rejects.toThrow(
      /checkpoint plan sealed/,
    );
  });

  test("are not resumed from, and the resume reads no step to know it", async () => {
    const session = original.copy(newFolder());
    rechain(session.stateDir, session.id, forged);
    const steps = stepBodies(session);
    // Bodies that no reader could parse: reading one would be another error.
    for (const { position } of steps)
      tamper(session, `UPDATE journal SET body = x'00ff' WHERE position = ${position}`);
    expect(await session.refusal()).toMatchObject({
      name: "JournalCorrupt",
      message: expect.stringMatching(notAsSealed),
    });
  });
});

describe("the recorded result of an effect that ran once, in a phase that is not sealed", () => {
  /** Changes the one row, and its hash where that is asked for; the rows behind it stay. */
  function change(path: string, withHash: boolean): void {
    const database = new DatabaseSync(path, { timeout: 5_000 });
    const [row, ...more] = database
      .prepare("SELECT * FROM journal WHERE kind = 'step.function'")
      .all() as unknown as (RecordedRow & { readonly position: number })[];
    if (row === undefined || more.length > 0) throw new Error("there is no one step");
    const [before] = database
      .prepare("SELECT hash FROM journal WHERE seq < ? ORDER BY seq DESC LIMIT 1")
      .all(row.seq) as { readonly hash: string }[];
    const body = row.body.replace('"paid":1', '"paid":9');
    expect(body).not.toBe(row.body);
    const hash = withHash ? chainHash(before?.hash ?? "", { ...row, body }) : row.hash;
    database
      .prepare("UPDATE journal SET body = ?, hash = ? WHERE position = ?")
      .run(body, hash, row.position);
    database.close();
  }

  /** Phase `pay` parks after its effect; then phase `other` runs alone, and its seal covers the effect. */
  async function parkedBehindSeal() {
    const stateDir = newFolder();
    let isBroken = true;
    let paid = 0;
    const pay = persona("payer", {
      run: async (ctx) => {
        const receipt = await ctx.step("pay", () => ({ paid: ++paid }), { effect: "once", input: "bill" });
        if (isBroken) throw new HelpNeeded("The printer is broken.");
        return { summary: `paid ${receipt.paid}` };
      },
    });
    const note = persona("noter", { run: async () => ({ summary: "noted" }) });
    const team = defineTeam("bills", {
      phases: [
        phase("pay", { dependsOn: [], personas: [pay] }),
        phase("other", { dependsOn: [], personas: [note] }),
      ],
    });
    const first = await open({ stateDir });
    await (await first.start(team, { brief: "pay", key: "bill", only: ["pay"] })).result();
    await (await first.start(team, { brief: "pay", key: "bill", only: ["other"] })).result();
    const { phases } = await first.show("bill");
    expect(phases).toMatchObject([{ status: "running" }, { status: "completed" }]);
    await first.close();
    isBroken = false;
    const resume = async () => {
      const maestro = await open({ stateDir });
      try {
        return await (await maestro.resume("bill", { team })).result();
      } finally {
        await maestro.close();
      }
    };
    return { database: join(stateDir, "maestro.db"), resume, paid: () => paid };
  }

  test("is used by the next attempt, and the effect does not run again", async () => {
    const session = await parkedBehindSeal();
    const result = await session.resume();
    expect(result).toMatchObject({ status: "completed" });
    expect(JSON.stringify(result)).toContain("paid 1");
    expect(session.paid()).toBe(1);
  });

  test.each([
    ["changed", false],
    ["changed, with a hash that fits the row before it", true],
  ])("is refused when it was %s", async (_, withHash) => {
    const session = await parkedBehindSeal();
    change(session.database, withHash);
    await expect(session.resume()).rejects.toMatchObject({ name: "JournalCorrupt" });
  });
});

test("a resume reads no steps of sealed phases", async () => {
  const session = original.copy(newFolder());
  for (const { position } of stepBodies(session))
    tamper(session, `UPDATE journal SET body = x'00ff' WHERE position = ${position}`);
  session.paused = false;
  expect((await session.resume()).result.status).toBe("completed");
});

test("forks, restored sessions and forks of forks verify", async () => {
  const session = original.copy(newFolder());
  session.paused = false;
  await session.resume();
  const ids = await session.with(async (maestro) => {
    const fork = await maestro.fork(session.id, { at: "test", fresh: true });
    await (await maestro.resume(fork.id)).result();
    const second = await maestro.fork(fork.id, { at: "build", fresh: true });
    await (await maestro.resume(second.id)).result();
    for (const id of [session.id, fork.id, second.id])
      expect((await maestro.checkpoints(id)).filter(({ valid }) => !valid)).toEqual([]);
    return [session.id, fork.id, second.id];
  });
  session.loseDatabase();
  await session.with(async (maestro) => {
    for (const id of ids) {
      await maestro.show(id);
      expect((await maestro.checkpoints(id)).filter(({ valid }) => !valid)).toEqual([]);
    }
  });
});

function tamper({ stateDir }: ThreePhases, sql: string): void {
  const database = new DatabaseSync(join(stateDir, "maestro.db"));
  expect(database.prepare(sql).run().changes).toBe(1);
  database.close();
}

function query<T>({ stateDir }: ThreePhases, sql: string): T[] {
  const copy = join(stateDir, "..", `copy-${Math.random()}.db`);
  copyFileSync(join(stateDir, "maestro.db"), copy);
  const database = new DatabaseSync(copy);
  const rows = database.prepare(sql).all() as T[];
  database.close();
  return rows;
}

const sealSeqs = (session: ThreePhases): number[] =>
  query<{ seq: number }>(
    session,
    "SELECT seq FROM journal WHERE kind = 'checkpoint.sealed' ORDER BY seq",
  ).map(({ seq }) => seq);

/** Of the sealed phases. */
function stepBodies(session: ThreePhases): { readonly position: number }[] {
  const last = sealSeqs(session).at(-1);
  return query(session, `SELECT position FROM journal WHERE kind LIKE 'step.%' AND seq < ${last}`);
}
