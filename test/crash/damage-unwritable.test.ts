import { spawnSync } from "node:child_process";
import { closeSync, cpSync, existsSync, openSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openReadonly } from "../../src/api/open-readonly.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Artifacts } from "../../src/store/artifacts.ts";
import { SmallDisk } from "./damage-support/small-disk.ts";
import { newStateDir } from "./damage-support/temporary-directory.ts";
import { ThreePhases } from "./damage-support/three-phases.ts";

describe("a disk that cannot be written", () => {
  const lookAt = async (stateDir: string) =>
    openReadonly({ loaded: await loadConfig({ flags: { stateDir } }) });

  /** A session with completed phases; its driver closed cleanly, or was killed and left its write-ahead log. */
  async function withSession(how: "closed" | "killed"): Promise<{ disk: SmallDisk; session: ThreePhases }> {
    const original = how === "killed" ? killedOne() : await ThreePhases.pausedInTest(newStateDir());
    const disk = new SmallDisk("16m");
    onTestFinished(() => disk.remove());
    cpSync(original.stateDir, join(disk.path, "state"), { recursive: true });
    const session = new ThreePhases(join(disk.path, "state"));
    session.id = original.id;
    return { disk, session };
  }

  function killedOne(): ThreePhases {
    const session = new ThreePhases(newStateDir());
    const program = join(import.meta.dirname, "damage-support/pause-and-die.ts");
    session.id = spawnSync(process.execPath, [program, session.stateDir], { encoding: "utf8" }).stdout;
    return session;
  }

  /** The answers of the read-only queries. */
  async function see({ stateDir, id }: ThreePhases) {
    const looking = await lookAt(stateDir);
    try {
      const { unwritable } = looking;
      const sessions = (await looking.sessions()).map((session) => session.id as string);
      const { phases } = await looking.show(id);
      const checkpoints = (await looking.checkpoints(id)).map(({ phase, valid }) => [phase, valid]);
      return { unwritable, sessions, phases: phases.length, checkpoints };
    } finally {
      await looking.close();
    }
  }

  const everything = (id: string) => ({
    unwritable: expect.objectContaining({ name: "StateUnavailable" }),
    sessions: [id],
    phases: 3,
    checkpoints: ["init", "plan", "build"].map((phase) => [phase, true]),
  });

  test.skipIf(!SmallDisk.isPossible).each(["closed", "killed"] as const)(
    "because it is full can be read (its driver was %s), and prune makes room",
    async (how) => {
      const { disk, session } = await withSession(how);
      const hash = await new Artifacts(session.stateDir).put("x".repeat(1_000_000));
      const longAgo = new Date(Date.now() - 2 * 24 * 3_600_000);
      utimesSync(join(session.stateDir, "artifacts", hash.slice(0, 2), hash), longAgo, longAgo);
      fill(join(disk.path, "stranger"));
      expect(await see(session)).toEqual(everything(session.id));
      const looking = await lookAt(session.stateDir);
      expect(await looking.removeUnneeded()).toBe(1);
      await looking.close();
      await session.with(async (maestro) => {
        expect(await maestro.prune({})).toEqual({
          sessions: [],
          artifacts: 0,
          tickets: 0,
          repositories: 0,
          uploads: 0,
          layers: 0,
        });
        expect(await maestro.sessions()).toHaveLength(1);
      });
    },
  );

  test.skipIf(!SmallDisk.isPossible).each(["closed", "killed"] as const)(
    "because it is read-only can be read (its driver was %s)",
    async (how) => {
      const { disk, session } = await withSession(how);
      disk.remount("ro");
      expect(await see(session)).toEqual(everything(session.id));
      disk.remount("rw");
    },
  );

  test.skipIf(!SmallDisk.isPossible)(
    "and that has no state shows no sessions and is not written",
    async () => {
      const disk = new SmallDisk("1m");
      onTestFinished(() => disk.remove());
      fill(join(disk.path, "stranger"));
      await lookAt(join(disk.path, "state"));
      expect(existsSync(join(disk.path, "state"))).toBe(false);
    },
  );

  function fill(path: string): void {
    const file = openSync(path, "w");
    try {
      for (let bytes = 65_536; bytes >= 1; bytes = Math.floor(bytes / 2)) {
        try {
          for (;;) writeSync(file, Buffer.alloc(bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
    } finally {
      closeSync(file);
    }
  }
});
