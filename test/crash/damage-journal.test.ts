import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ArtifactCorrupt, JournalCorrupt } from "../../src/domain/errors.ts";
import { defineTeam, type Maestro, open, persona, phase } from "../../src/index.ts";
import { newStateDir, temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { ThreePhases } from "./damage-support/three-phases.ts";

/** Changes the database directly, as another program would. */
function tamper(stateDir: string, ...statements: string[]): void {
  const database = new DatabaseSync(join(stateDir, "maestro.db"));
  for (const sql of statements) {
    const { changes } = database.prepare(sql).run();
    if (changes === 0) throw new Error(`changed nothing: ${sql}`);
  }
  database.close();
}

let original: ThreePhases;
beforeAll(async () => {
  original = await ThreePhases.pausedInTest(newStateDir());
});

describe("a journal that another program may have changed", () => {
  const victim = "(SELECT number FROM sessions WHERE key = 'k')";
  const row = (seq: number) => `session = ${victim} AND seq = ${seq}`;
  const spare = 10_000;

  test.each([
    ["the brief", 1, [`UPDATE journal SET body = replace(body, 'Build', 'Break') WHERE ${row(1)}`]],
    ["a kind", 3, [`UPDATE journal SET kind = 'phase.completed' WHERE ${row(3)}`]],
    ["the first kind", 1, [`UPDATE journal SET kind = 'session.restored' WHERE ${row(1)}`]],
    ["a time", 4, [`UPDATE journal SET at = at + 1 WHERE ${row(4)}`]],
    ["an epoch", 4, [`UPDATE journal SET epoch = 7 WHERE ${row(4)}`]],
    [
      "a result in a sealed phase",
      7,
      [`UPDATE journal SET body = replace(body, 'plan', 'Plan') WHERE ${row(7)}`],
    ],
    ["a deleted row after the last seal", 18, [`DELETE FROM journal WHERE ${row(18)}`]],
    ["a deleted first row", 1, [`DELETE FROM journal WHERE ${row(1)}`]],
  ] satisfies [string, number, string[]][])(
    "is refused by a resume and by show: %s",
    async (_, seq, statements) => {
      const session = original.copy(newStateDir());
      tamper(session.stateDir, ...statements);
      const error = await session.refusal();
      expect(error).toBeInstanceOf(JournalCorrupt);
      expect(error.details).toMatchObject({ session: session.id });
      expect([seq, seq + 1]).toContain(error.details["seq"]);
      expect(error.message).toContain(`row ${String(error.details["seq"])}`);
      await session.with((maestro) =>
        expect(maestro.show(session.id)).rejects.toMatchObject({ name: "JournalCorrupt" }),
      );
    },
  );

  test.each([
    ["a body", 5, [`UPDATE journal SET body = replace(body, 'first', 'First') WHERE ${row(5)}`]],
    ["a step's name", 5, [`UPDATE journal SET name = 'another' WHERE ${row(5)}`]],
    ["an occurrence", 6, [`UPDATE journal SET occurrence = 2 WHERE ${row(6)}`]],
    ["a fingerprint", 5, [`UPDATE journal SET fingerprint = 'f' WHERE ${row(5)}`]],
    ["a hash", 6, [`UPDATE journal SET hash = 'h' WHERE ${row(6)}`]],
    ["a text in place of a number", 5, [`UPDATE journal SET at = 'x' WHERE ${row(5)}`]],
    ["a body that is not JSON", 5, [`UPDATE journal SET body = '{' WHERE ${row(5)}`]],
    ["a body of bytes that are not text", 5, [`UPDATE journal SET body = x'00ff' WHERE ${row(5)}`]],
    [
      "the order of two rows",
      5,
      [
        `UPDATE journal SET seq = ${spare} WHERE ${row(5)}`,
        `UPDATE journal SET seq = 5 WHERE ${row(6)}`,
        `UPDATE journal SET seq = 6 WHERE ${row(spare)}`,
      ],
    ],
    ["a deleted row", 6, [`DELETE FROM journal WHERE ${row(5)}`]],
    ["a row's session", 6, [`UPDATE journal SET session = session + 1 WHERE ${row(5)}`]],
  ] satisfies [string, number, string[]][])(
    "is detected by checkpoints verify in a step of a sealed phase, which no resume reads: %s",
    async (_, seq, statements) => {
      const session = original.copy(newStateDir());
      tamper(session.stateDir, ...statements);
      const error: unknown = await session.with((maestro) =>
        maestro.checkpoints(session.id).catch((reason: unknown) => reason),
      );
      expect(error).toBeInstanceOf(JournalCorrupt);
      const { details } = error as JournalCorrupt;
      expect(details).toMatchObject({ session: session.id });
      expect([seq, seq + 1]).toContain(details["seq"]);
    },
  );

  test.each([1, 5])(
    "with damage in row %i still lists and exports its checkpoints, and prune can remove the session",
    async (seq) => {
      const session = original.copy(newStateDir());
      tamper(session.stateDir, `UPDATE journal SET body = body || ' ' WHERE ${row(seq)}`);
      const file = join(session.stateDir, "..", `export-${seq}-${session.id}`);
      onTestFinished(() => rmSync(file, { force: true }));
      await session.with(async (maestro) => {
        await expect(maestro.checkpoints(session.id)).rejects.toThrow(/damaged at row/);
        const files = await maestro.checkpointFiles(session.id);
        expect(files.length).toBeGreaterThanOrEqual(2);
        expect(files.filter(({ valid }) => !valid)).toEqual([]);
        expect(await maestro.prune({ keep: 0 })).toMatchObject({ sessions: [] });
        await maestro.exportCheckpoints(session.id, file);
        expect(await maestro.prune({ damaged: session.id })).toMatchObject({ sessions: [session.id] });
        expect(await maestro.sessions()).toEqual([]);
        expect(await maestro.lostSessions()).toEqual([]);
      });
      const elsewhere = new ThreePhases(newStateDir());
      elsewhere.id = session.id;
      elsewhere.paused = false;
      await elsewhere.with((maestro) => maestro.importCheckpoints(file, { trust: true }));
      expect((await elsewhere.resume()).result.status).toBe("completed");
    },
  );

  test("is not removed as damaged if it is intact", async () => {
    const session = original.copy(newStateDir());
    await session.with(async (maestro) => {
      await expect(maestro.prune({ damaged: session.id })).rejects.toThrow(/is not damaged/);
      expect(await maestro.sessions()).toHaveLength(1);
    });
  });

  test("with a row moved to another session is refused in both sessions", async () => {
    const session = original.copy(newStateDir());
    const other = await session.with(async (maestro) => {
      const { id } = await maestro.create(session.team, { brief: "another" });
      return id;
    });
    const target = `(SELECT number FROM sessions WHERE id = '${other}')`;
    tamper(session.stateDir, `UPDATE journal SET session = ${target} WHERE ${row(5)}`);
    for (const id of [session.id, other])
      await session.with((maestro) =>
        expect(maestro.checkpoints(id)).rejects.toMatchObject({
          name: "JournalCorrupt",
          details: { session: id },
        }),
      );
  });

  test("without its last row has a valid chain, and the summary file reveals the missing row", async () => {
    const session = original.copy(newStateDir());
    const last = `(SELECT max(position) FROM journal WHERE session = ${victim})`;
    tamper(
      session.stateDir,
      `DELETE FROM transitions WHERE position = ${last}`,
      `DELETE FROM journal WHERE position = ${last}`,
    );
    await session.resume();
    expect(session.notices.join()).toContain("may come from an older backup");
  });
});

describe("a long journal", () => {
  const steps = 2_300;
  const team = defineTeam("long", {
    phases: [
      phase("work", {
        personas: [
          persona("clerk", {
            run: async ({ step }) => {
              for (let page = 1; page <= steps; page += 1) await step(`page ${page}`, () => page);
              throw new Error("and then it broke");
            },
          }),
        ],
      }),
    ],
  });

  test.each([10, 1_500, 2_299])("is verified in its indexed part and in its tail (row %i)", async (seq) => {
    const stateDir = temporaryDirectory();
    const options = { stateDir, attempts: { max: 1 }, rounds: { max: 1 }, teams: [team] };
    const id = await inOneLife(options, async (maestro) => {
      const session = await maestro.start(team, { brief: "b" });
      expect((await session.result()).status).toBe("parked");
      return session.id;
    });
    tamper(stateDir, `UPDATE journal SET body = '{"result":0}' WHERE seq = ${seq}`);
    await inOneLife(options, async (maestro) => {
      const resumed = await maestro.resume(id);
      await expect(resumed.result()).rejects.toMatchObject({
        name: "JournalCorrupt",
        details: { session: id, seq },
      });
    });
  });
});

test("a damaged or missing artifact is detected before its content is used", async () => {
  for (const damage of ["damaged", "missing"]) {
    const stateDir = temporaryDirectory();
    let isHeld = true;
    let maestro: Maestro | undefined;
    const seen: number[] = [];
    const team = defineTeam("large", {
      phases: [
        phase("work", {
          personas: [
            persona("writer", {
              run: async ({ step, context }) => {
                seen.push((await step("large", () => "x".repeat(400_000))).length);
                if (isHeld) await maestro?.pause(context.sessionId);
                await step("after", () => 1);
                return { summary: "done" };
              },
            }),
          ],
        }),
      ],
    });
    const id = await inOneLife({ stateDir, teams: [team] }, async (opened) => {
      maestro = opened;
      const session = await opened.start(team, { brief: "b" });
      await session.result();
      return session.id;
    });
    isHeld = false;
    const [folder] = readdirSync(join(stateDir, "artifacts"));
    const [hash] = readdirSync(join(stateDir, "artifacts", folder ?? ""));
    const path = join(stateDir, "artifacts", folder ?? "", hash ?? "");
    const content = readFileSync(path, "utf8");
    if (damage === "missing") rmSync(path);
    else writeFileSync(path, content.replace("xxx", "xyx"));
    const resume = async (opened: Maestro) => (await opened.resume(id)).result();
    await inOneLife({ stateDir, teams: [team] }, async (opened) => {
      const error: unknown = await resume(opened).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ArtifactCorrupt);
      expect((error as Error).message).toContain(`${hash} is ${damage}`);
    });
    expect(seen).toEqual([400_000]);
    writeFileSync(path, content);
    await inOneLife({ stateDir, teams: [team] }, async (opened) => {
      expect((await resume(opened)).status).toBe("completed");
    });
    expect(seen).toEqual([400_000, 400_000]);
  }
});

async function inOneLife<T>(
  options: Parameters<typeof open>[0],
  act: (maestro: Maestro) => Promise<T>,
): Promise<T> {
  const maestro = await open(options);
  try {
    return await act(maestro);
  } finally {
    await maestro.close();
  }
}
