import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { StateUnavailable } from "../../src/domain/errors.ts";
import { newSessionId } from "../../src/domain/ids.ts";
import { open } from "../../src/index.ts";
import { ensureSchema, openDatabase } from "../../src/store/sqlite/open-database.ts";
import { Writer } from "../../src/store/sqlite/writer.ts";
import { clerkIn, expectNoHarm, expectOnce, failCall, fillDisk } from "../campaign/disk.ts";
import type { ClerkOptions } from "./damage-support/clerk-work.ts";
import { canInject, failing, linesOf, runClerk, traced, writerLines } from "./damage-support/run-clerk.ts";
import { SmallDisk } from "./damage-support/small-disk.ts";
import { temporaryDirectory } from "./damage-support/temporary-directory.ts";

function smallDisk(size: string): SmallDisk {
  const disk = new SmallDisk(size);
  onTestFinished(() => disk.remove());
  return disk;
}

const newClerk = (over: Partial<ClerkOptions> = {}): ClerkOptions => {
  const folder = temporaryDirectory();
  return clerkIn(join(folder, "state"), folder, over);
};

describe("a full disk", () => {
  test.skipIf(!SmallDisk.isPossible).each([
    ["rows", 200],
    ["artifacts", 12],
    ["stranger", 8],
  ] as const)(
    "filled by %s ends in an error, loses no acknowledged step, and lets the work finish when there is room (needs the right to mount)",
    async (filling, steps) => {
      await expect(fillDisk(filling, steps)).resolves.toBeUndefined();
    },
  );

  test.skipIf(!SmallDisk.isPossible)(
    "during a heartbeat does not affect the writes after it (needs the right to mount)",
    () => {
      const disk = smallDisk("2m");
      const path = join(disk.path, "maestro.db");
      const database = openDatabase(path);
      ensureSchema(database, path);
      const writer = new Writer(database);
      onTestFinished(() => writer.close());
      expect(writer.commit([createCommand(), claimCommand()])).toMatchObject([
        { kind: "placed" },
        { kind: "placed" },
      ]);
      const filler = join(disk.path, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(2 ** 22))).toThrow("ENOSPC");
      expect(() => {
        for (let beat = 0; beat < 1_000; beat += 1) writer.beat("owner", beat, beat);
      }).toThrow("full");
      rmSync(filler);
      writer.beat("owner", 1_001, 1_001);
      expect(writer.commit([createCommand(), createCommand()])).toMatchObject([
        { kind: "placed" },
        { kind: "placed" },
      ]);
    },
  );
});

describe("a disk that reports errors", () => {
  // Counted per thread: these calls reach the first open, the journal, the checkpoints and the last writes.
  const faults = [
    ...[1, 3, 6, 11, 17].map((when) => ({ call: "fsync,fdatasync", when })),
    // The schema, the space of the log, and writes before the writer thread has started; the block below has the rest.
    ...[1, 35, 65].map((when) => ({ call: "pwrite64", when })),
    ...[1, 2].map((when) => ({ call: "rename", when })),
  ];

  test.skipIf(!canInject).each(faults)(
    "at call $when of $call reports no false success, and the next start continues (needs strace)",
    async (fault) => {
      expect(await failCall(fault)).toEqual({ wasInjected: true });
    },
  );

  describe.skipIf(!canInject)("while the journal is written (needs strace)", () => {
    /** Before its first commit the thread extends the log to its full length; those writes are not of the journal. */
    let writesBefore: number;
    const clerk = () => newClerk({ steps: 20, waitsForWriter: true });
    // strace splits a call in two lines when another thread makes one meanwhile.
    const isSync = (line: string) => /f(?:data)?sync(?:\(| resumed).* = 0$/.test(line);
    beforeAll(async () => {
      const options = clerk();
      const trace = `${options.effects}.trace`;
      const under = [...traced(["pwrite64", "fsync", "fdatasync"], trace), "-P", logOf(options)];
      await runClerk(options, under);
      const lines = writerLines(trace);
      writesBefore = lines.slice(0, lines.findIndex(isSync)).filter((line) => /pwrite64\(/.test(line)).length;
      if (writesBefore < 1) throw new Error("no commit was seen in the trace");
    });

    // A commit has two to twelve writes; these hits are in steps, in attempts and in the seal of a phase.
    test.each([1, 8, 37, 62])(
      "at write %i after the first commit fails that commit and its caller, and the next start continues",
      async (write) => {
        const options = clerk();
        const trace = `${options.effects}.trace`;
        const fault = { call: "pwrite64", when: writesBefore + write, path: logOf(options) };
        await expectNoHarm(options, failing(fault, trace), ["StorageFailed"]);
        const lines = writerLines(trace);
        const [hit, ...more] = injectedIn(lines);
        expect(more).toEqual([]);
        expect(hit).toContain("maestro.db-wal");
        const before = lines.slice(0, lines.indexOf(hit as string));
        expect(before.filter(isSync).length, "commits before it").toBeGreaterThan(0);
      },
    );
  });
});

const logOf = ({ stateDir }: ClerkOptions): string => join(stateDir, "maestro.db-wal");
const injectedIn = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.includes("(INJECTED)"));

test.skipIf(!canInject)(
  "every step is synced before it is acknowledged, so a power cut loses none (needs strace)",
  async () => {
    const options = newClerk({ steps: 40 });
    const trace = `${options.effects}.trace`;
    expect(await runClerk(options, traced(["fsync", "fdatasync", "write"], trace))).toMatchObject({
      status: "completed",
    });
    let synced = 0;
    const unsynced: string[] = [];
    for (const line of linesOf(trace)) {
      if (/f(?:data)?sync.*maestro\.db-wal.* = 0$|f(?:data)?sync resumed.* = 0$/.test(line)) synced += 1;
      if (!/write\(.*acknowledged>/.test(line)) continue;
      if (synced === 0) unsynced.push(line);
      synced = 0;
    }
    expect(linesOf(options.acknowledged)).toHaveLength(80);
    expect(unsynced).toEqual([]);
  },
);

describe("a state directory that cannot be written", () => {
  test.skipIf(!SmallDisk.isPossible)(
    "is refused at once, and its session continues when it can be written again (needs the right to mount)",
    async () => {
      const disk = smallDisk("16m");
      const options = clerkIn(join(disk.path, "state"), temporaryDirectory());
      await runClerk(options);
      const before = readFileSync(join(options.stateDir, "maestro.db"));
      disk.remount("ro");
      const error: unknown = await open({ stateDir: options.stateDir }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StateUnavailable);
      expect((error as StateUnavailable).message).toContain("read-only");
      disk.remount("rw");
      expect(readFileSync(join(options.stateDir, "maestro.db")).equals(before)).toBe(true);
      expect(await runClerk(options)).toMatchObject({ status: "completed" });
      expectOnce(options, linesOf(options.acknowledged));
    },
  );
});

function createCommand() {
  const id = newSessionId();
  const session = {
    id,
    key: null,
    team: "t",
    teamFingerprint: "f",
    identity: "i",
    at: 1,
    wakeAt: null,
    model: null,
    queue: "default",
    priority: 0,
  };
  const none = { attempt: null, occurrence: null, fingerprint: null, name: null };
  const row = { ...none, kind: "session.created", body: '{"team":"t","brief":"b"}' };
  const nothing = { copied: [], appended: [], artifacts: [], artifactsOf: undefined, usage: [] };
  return { verb: "create", session, row, at: 1, ...nothing } as const;
}

function claimCommand() {
  const none = { attempt: null, occurrence: null, fingerprint: null, name: null };
  const owner = { id: "owner", machine: "m", boot: "b", pidNamespace: "n", pid: 1, started: "s" };
  return {
    verb: "claim",
    cause: "start",
    limits: [],
    deadOwners: [],
    session: 1,
    judged: { epoch: 0, owner: null, beat: null },
    expectedStatus: null,
    claimant: { ...owner, beatUptimeMs: 1, beatAt: 1 },
    at: 1,
    row: { ...none, kind: "session.claimed", body: '{"cause":"start"}' },
  } as const;
}
