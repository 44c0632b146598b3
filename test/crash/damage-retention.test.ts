import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { newSessionId } from "../../src/domain/ids.ts";
import { defineTeam, type Maestro, open, persona, phase, type Session } from "../../src/index.ts";
import { Artifacts } from "../../src/store/artifacts.ts";
import { linesOf, runClerk } from "./damage-support/run-clerk.ts";
import { temporaryDirectory } from "./damage-support/temporary-directory.ts";

const large = 300_000;
const dayMs = 24 * 3_600_000;
let maestro: Maestro;

/** Writes a large page; then it finishes, fails or waits, as the brief says. */
const writer = defineTeam("writer", {
  phases: [
    phase("write", {
      personas: [
        persona("writer", {
          maxAttempts: 1,
          run: async ({ step, brief, context }) => {
            const page = await step("page", () => `${brief} ${"x".repeat(large)}`);
            if (brief.startsWith("pause")) await maestro.pause(context.sessionId);
            if (brief.startsWith("park")) throw new Error("it does not work");
            await step("check", () => page.length);
            return { summary: "done", outputs: { length: page.length } };
          },
        }),
      ],
    }),
  ],
});

/** Writes a file in one phase and reads it in the next. */
const drafts = defineTeam("drafts", {
  phases: [
    phase("draft", {
      personas: [
        persona("drafter", {
          run: async ({ workspace }) => {
            await workspace.write("draft.md", "three short words");
            return { summary: "drafted" };
          },
        }),
      ],
    }),
    phase("read", {
      dependsOn: ["draft"],
      personas: [
        persona("reader", {
          run: async ({ workspace }) => ({
            summary: `${(await workspace.readText("draft.md")).split(" ").length} words`,
          }),
        }),
      ],
    }),
  ],
});

async function inOneLife<T>(stateDir: string, act: () => Promise<T>, daysLater = 0): Promise<T> {
  const clock = { ...systemClock, now: () => Date.now() + daysLater * dayMs };
  maestro = await open({ stateDir, teams: [writer, drafts], rounds: { max: 1 }, clock });
  try {
    return await act();
  } finally {
    await maestro.close();
  }
}

async function run(brief: string): Promise<string> {
  const session: Session = await maestro.start(writer, { brief });
  await session.result();
  return session.id;
}

function artifactsIn(stateDir: string): string[] {
  const root = join(stateDir, "artifacts");
  return readdirSync(root).flatMap((folder) => readdirSync(join(root, folder)));
}

function makeOld(stateDir: string, hash: string, ageMs: number): void {
  const then = new Date(Date.now() - ageMs);
  utimesSync(join(stateDir, "artifacts", hash.slice(0, 2), hash), then, then);
}

describe("prune", () => {
  test("never removes an unfinished session, its files or its artifacts", async () => {
    const stateDir = temporaryDirectory();
    const unfinished = await inOneLife(stateDir, async () => {
      const made = [await run("pause me"), await run("park me")];
      made.push((await maestro.create(writer, { brief: "only created" })).id);
      await run("finish me");
      return made;
    });
    await inOneLife(
      stateDir,
      async () => {
        const { sessions, artifacts } = await maestro.prune({ olderThanMs: 0, keep: 0 });
        expect([sessions.length, artifacts]).toEqual([1, 1]);
        expect((await maestro.sessions()).map(({ id }) => id as string).sort()).toEqual(
          [...unfinished].sort(),
        );
      },
      365,
    );
    for (const id of unfinished) expect(existsSync(join(stateDir, "sessions", id))).toBe(true);
    const resumed = await inOneLife(stateDir, async () =>
      (await maestro.resume(unfinished[0] ?? "")).result(),
    );
    expect(resumed).toMatchObject({ status: "paused", id: unfinished[0] });
    expect(artifactsIn(stateDir)).toHaveLength(2);
  });

  test("removes finished sessions by age and by count, oldest first, and a dry run only lists them", async () => {
    const stateDir = temporaryDirectory();
    const finished = await inOneLife(stateDir, async () => {
      const made: string[] = [];
      for (const brief of ["a", "b", "c", "d"]) made.unshift(await run(brief));
      return made;
    });
    await inOneLife(stateDir, async () => {
      expect((await maestro.prune({ olderThanMs: dayMs })).sessions).toEqual([]);
      expect((await maestro.prune({ keep: 3, dryRun: true })).sessions).toEqual(finished.slice(3));
      expect(await maestro.sessions()).toHaveLength(4);
      expect((await maestro.prune({ keep: 3 })).sessions).toEqual(finished.slice(3));
      expect(existsSync(join(stateDir, "sessions", finished[3] ?? ""))).toBe(false);
      expect(await maestro.show(finished[0] ?? "")).toMatchObject({ status: "completed" });
      await expect(maestro.show(finished[3] ?? "")).rejects.toMatchObject({ name: "SessionNotFound" });
      expect(await maestro.lostSessions()).toEqual([]);
    });
    await inOneLife(
      stateDir,
      async () =>
        expect((await maestro.prune({ olderThanMs: dayMs })).sessions).toEqual(finished.slice(0, 3)),
      2,
    );
  });

  test("can run while other processes use the same directory", async () => {
    const stateDir = temporaryDirectory();
    const outside = temporaryDirectory();
    await inOneLife(stateDir, async () => {
      for (const brief of ["a", "b", "c"]) await run(`${brief} ${"y".repeat(500_000)}`);
    });
    const effects = join(outside, "effects");
    const acknowledged = join(outside, "acknowledged");
    const ended = new AbortController();
    const work = runClerk({ stateDir, steps: 150, filling: "rows", effects, acknowledged }).finally(() =>
      ended.abort(),
    );
    const pruned = await inOneLife(stateDir, async () => {
      const ids: string[] = [];
      while (!ended.signal.aborted) ids.push(...(await maestro.prune({ keep: 1 })).sessions);
      return ids;
    });
    expect(await work).toEqual({ status: "completed", results: 2 });
    expect(pruned.length).toBeGreaterThanOrEqual(2);
    expect(linesOf(effects)).toHaveLength(300);
  });

  test("removes an artifact only if it is unreferenced and older than a day", async () => {
    const stateDir = temporaryDirectory();
    await inOneLife(stateDir, () => run("pause me"));
    const [referenced = ""] = artifactsIn(stateDir);
    const artifacts = new Artifacts(stateDir);
    const [young, old, again] = [
      await artifacts.put("young"),
      await artifacts.put("old"),
      await artifacts.put("again"),
    ];
    for (const hash of [referenced, old, again]) makeOld(stateDir, hash, dayMs + 60_000);
    makeOld(stateDir, young, dayMs - 60_000);
    // Stored again just now, so a row may be about to reference it.
    await artifacts.put("again");
    const dry = await inOneLife(stateDir, () => maestro.prune({ dryRun: true }));
    expect(dry.artifacts).toBe(1);
    expect(artifactsIn(stateDir)).toHaveLength(4);
    expect((await inOneLife(stateDir, () => maestro.prune({}))).artifacts).toBe(1);
    expect(artifactsIn(stateDir).sort()).toEqual([referenced, young, again].sort());
  });

  test("never removes an artifact of a session that only its files know", async () => {
    const stateDir = temporaryDirectory();
    const begin = async () => {
      const session = await maestro.start(drafts, { brief: "b", until: "draft" });
      return (await session.result()).id;
    };
    const id = await inOneLife(stateDir, begin);
    const kept = artifactsIn(stateDir);
    expect(kept.length).toBeGreaterThanOrEqual(2);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(stateDir, `maestro.db${suffix}`), { force: true });
    for (const hash of kept) makeOld(stateDir, hash, 2 * dayMs);
    expect(await inOneLife(stateDir, () => maestro.prune({ olderThanMs: 0 }))).toMatchObject({
      artifacts: 0,
    });
    expect(artifactsIn(stateDir)).toEqual(kept);
    const ended = await inOneLife(stateDir, async () => (await maestro.resume(id)).result());
    expect(ended).toMatchObject({
      status: "completed",
      results: { read: { reader: { summary: "3 words" } } },
    });
  });

  test("removes no artifact while a lost session cannot be read, and reports why", async () => {
    const stateDir = temporaryDirectory();
    const artifacts = new Artifacts(stateDir);
    makeOld(stateDir, await artifacts.put("perhaps needed"), 2 * dayMs);
    const folder = join(stateDir, "sessions", newSessionId());
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "checkpoint_init.json"), "{torn");
    const notices: string[] = [];
    const opened = await open({ stateDir, onNotice: (notice) => notices.push(notice) });
    expect(await opened.prune({})).toMatchObject({ artifacts: 0 });
    rmSync(folder, { recursive: true });
    expect(await opened.prune({})).toMatchObject({ artifacts: 1 });
    await opened.close();
    expect(notices.filter((notice) => notice.startsWith("No artifact is removed"))).toHaveLength(1);
  });

  test("completes a prune that was killed, also if the session's files were written since", async () => {
    const stateDir = temporaryDirectory();
    const id = await inOneLife(stateDir, () => run("finish me"));
    const folder = join(stateDir, "sessions", id);
    cpSync(folder, `${folder}.pruned`, { recursive: true });
    await inOneLife(stateDir, async () => {
      expect((await maestro.prune({ olderThanMs: dayMs })).sessions).toEqual([]);
      expect(readdirSync(join(stateDir, "sessions"))).toEqual([id]);
      cpSync(folder, `${folder}.pruned`, { recursive: true });
      expect((await maestro.prune({ keep: 0 })).sessions).toEqual([id]);
      expect(readdirSync(join(stateDir, "sessions"))).toEqual([]);
    });
  });

  test("removes temporary files of killed writers, also in directories that change every day", async () => {
    const stateDir = temporaryDirectory();
    const hash = await new Artifacts(stateDir).put("one");
    const [old, young] = ["old.tmp", "young.tmp"].map((name) =>
      join(stateDir, "artifacts", hash.slice(0, 2), `${hash}.${name}`),
    );
    for (const file of [old, young]) writeFileSync(file ?? "", "half");
    const then = new Date(Date.now() - 2 * dayMs);
    utimesSync(old ?? "", then, then);
    await inOneLife(stateDir, () => maestro.prune({}));
    expect([existsSync(old ?? ""), existsSync(young ?? "")]).toEqual([false, true]);
  });

  test("frees or reuses the disk space of pruned sessions", async () => {
    const stateDir = temporaryDirectory();
    const size = () => statSync(join(stateDir, "maestro.db")).size;
    const sizes: number[] = [];
    const filler = "y".repeat(50_000);
    for (let round = 0; round < 6; round += 1) {
      await inOneLife(stateDir, async () => {
        for (let number = 0; number < 8; number += 1) await run(`${filler} ${round} ${number}`);
        await maestro.prune({ keep: 2 });
        expect(await maestro.sessions()).toHaveLength(2);
      });
      sizes.push(size());
    }
    expect(Math.max(...sizes.slice(1))).toBeLessThanOrEqual(2 * Math.min(...sizes));
    expect(readdirSync(join(stateDir, "sessions"))).toHaveLength(2);
    const swept = await inOneLife(stateDir, () => maestro.prune({}), 2);
    expect(swept.artifacts).toBe(46);
    expect(artifactsIn(stateDir)).toHaveLength(2);
  });
});
