import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openReadonly } from "../../src/api/open-readonly.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Maestro, verifyCheckpointFile } from "../../src/index.ts";
import { seal, unseal } from "../../src/journal/seal.ts";
import { serve } from "../../src/server/serve.ts";
import { Artifacts } from "../../src/store/artifacts.ts";
import { newStateDir } from "./damage-support/temporary-directory.ts";
import { ThreePhases } from "./damage-support/three-phases.ts";

const names = ["checkpoint_init.json", "checkpoint_build.json"] as const;

/** Kinds of damage; the last one even has a valid seal. */
const damages: Readonly<Record<string, (path: string) => void>> = {
  "a flipped bit": (path) => {
    const bytes = readFileSync(path);
    const at = Math.floor(bytes.length / 2);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(path, bytes);
  },
  "a torn end": (path) => writeFileSync(path, readFileSync(path).subarray(0, 100)),
  "no file": (path) => rmSync(path),
  "another content, sealed again": (path) => {
    const { content } = unseal(readFileSync(path), path);
    writeFileSync(path, seal({ ...content, createdAt: 1 }));
  },
};

const patience = { timeout: 60_000 };

const cases = names.flatMap((name) => Object.keys(damages).map((damage) => [name, damage] as const));

let original: ThreePhases;
let finished: ThreePhases;
beforeAll(async () => {
  original = await ThreePhases.pausedInTest(newStateDir());
  finished = original.copy(newStateDir());
  finished.paused = false;
  await finished.resume();
});

function damaged(name: string, damage: string, of = original): ThreePhases {
  const session = of.copy(newStateDir());
  damages[damage]?.(session.file(name));
  return session;
}

async function lookingAt({ stateDir }: ThreePhases) {
  const loaded = await loadConfig({ cwd: stateDir, env: {}, overrides: { stateDir } });
  const looking = await openReadonly({ loaded });
  onTestFinished(() => looking.close());
  return looking;
}

describe("a checkpoint that differs from the sealed one", () => {
  test.each(cases)("a resume reports it and writes it again: %s, %s", async (name, damage) => {
    const session = damaged(name, damage);
    expect((await session.resume()).ran).toEqual([]);
    expect(session.notices.join()).toMatch(/^Checkpoint (init|build) of session .* written again/);
    expect(session.contents()[name]).toBe(original.contents()[name]);
  });

  test.each(cases)(
    "a resume of a completed session reports it and writes it again: %s, %s",
    async (name, damage) => {
      const session = damaged(name, damage, finished);
      session.paused = false;
      const { result, ran } = await session.resume();
      expect([result.status, ran]).toEqual(["completed", []]);
      expect(session.notices.join()).toMatch(/^Checkpoint (init|build) of session .* written again/);
      expect(session.contents()[name]).toBe(finished.contents()[name]);
    },
  );

  test.each(cases)("a recovery reports it and writes it again: %s, %s", async (name, damage) => {
    const session = original.copy(newStateDir());
    const statusIn = (maestro: Maestro) => async () => (await maestro.show(session.id)).status;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Closed in the middle of a step, the session stays `running` without a driver.
    session.paused = false;
    session.held = promise;
    await session.with(async (maestro) => {
      await maestro.resume(session.id);
      await expect.poll(statusIn(maestro), patience).toBe("running");
      // Resolved after closing has begun: it waits for this step, and no other step begins.
      setImmediate(resolve);
    });
    damages[damage]?.(session.file(name));
    await session.with(
      async (maestro) => {
        await expect.poll(statusIn(maestro), patience).toBe("completed");
      },
      { recover: true },
    );
    expect(session.notices.join()).toMatch(/Checkpoint (init|build) of session .* written again/);
    expect(session.contents()[name]).toBe(original.contents()[name]);
  });

  test.each(cases)("the list of checkpoints marks it as invalid: %s, %s", async (name, damage) => {
    const session = damaged(name, damage);
    const listed = await (await lookingAt(session)).checkpoints(session.id);
    expect(listed.filter(({ valid }) => !valid).map(({ file }) => file)).toEqual([name]);
    expect(listed.find(({ file }) => file === name)?.problem).toMatch(/damaged|missing|journal/);
  });

  test.each(cases)("the server's list of checkpoints marks it as invalid: %s, %s", async (name, damage) => {
    const session = damaged(name, damage);
    const { stateDir } = session;
    const loaded = await loadConfig({ cwd: stateDir, env: {}, overrides: { stateDir } });
    const server = await serve({ loaded, teams: [], version: "0", report: () => {} });
    onTestFinished(() => server.stop());
    const response = await server.app.request(`http://127.0.0.1:4160/v1/sessions/${session.id}/checkpoints`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    const listed = (await response.json()) as { file: string; valid: boolean }[];
    expect(listed.filter(({ valid }) => !valid).map(({ file }) => file)).toEqual([name]);
  });

  test.each(cases.filter(([, damage]) => damage !== "no file"))(
    "the verification of one file detects it, unless its seal is valid: %s, %s",
    async (name, damage) => {
      const { valid } = await verifyCheckpointFile(damaged(name, damage).file(name));
      expect(valid).toBe(damage.endsWith("sealed again"));
    },
  );

  test.each(cases)("an export contains the sealed bytes from the journal: %s, %s", async (name, damage) => {
    const session = damaged(name, damage);
    const file = join(session.stateDir, "out.export");
    await (await lookingAt(session)).exportCheckpoints(session.id, file);
    const { checkpoints } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
      checkpoints: string[];
    };
    const sealed = names.map((each) => readFileSync(original.file(each), "utf8"));
    expect(checkpoints).toHaveLength(3);
    expect(checkpoints).toEqual(expect.arrayContaining(sealed));
  });

  test.each(["a flipped bit", "a torn end"])(
    "an import refuses it and writes nothing: %s",
    async (damage) => {
      const outcome = await importChanged((checkpoints) => {
        const path = join(original.stateDir, "checkpoint");
        writeFileSync(path, checkpoints[1] ?? "");
        damages[damage]?.(path);
        return checkpoints.with(1, readFileSync(path, "utf8"));
      });
      expect(outcome).toEqual({ refused: expect.stringContaining("is damaged") as string, written: false });
    },
  );

  test("an import without the first checkpoint is refused and writes nothing", async () => {
    const outcome = await importChanged((checkpoints) => checkpoints.slice(1));
    expect(outcome).toEqual({
      refused: expect.stringContaining("start is missing") as string,
      written: false,
    });
  });
});

async function importChanged(change: (checkpoints: string[]) => string[]) {
  const source = original.copy(newStateDir());
  const file = join(source.stateDir, "out.export");
  await source.with((maestro) => maestro.exportCheckpoints(source.id, file));
  const content = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { checkpoints: string[] };
  const packed = JSON.stringify({ ...content, checkpoints: change(content.checkpoints) });
  writeFileSync(file, await promisify(gzip)(packed));
  const there = new ThreePhases(newStateDir());
  const refused = await there
    .with((maestro) => maestro.importCheckpoints(file, { trust: true }))
    .then(() => undefined, String);
  return { refused, written: existsSync(join(there.stateDir, "sessions")) };
}

describe("commands that do not read checkpoint files", () => {
  test.each(cases)("show and fork work with a damaged file: %s, %s", async (name, damage) => {
    const session = damaged(name, damage);
    const before = original.copy(newStateDir());
    const shown = await (await lookingAt(session)).show(session.id);
    expect(shown).toEqual(await (await lookingAt(before)).show(before.id));
    session.paused = false;
    const result = await session.with(async (maestro) => {
      const fork = await maestro.fork(session.id, { at: "test" });
      return (await maestro.resume(fork.id)).result();
    });
    expect([result.status, session.ran]).toEqual(["completed", ["test first", "test second"]]);
    expect(result.results["build"]?.["worker"]?.summary).toBe("build is done");
  });
});

describe("without the database", () => {
  test.each(["show", "resume", "fork"] as const)(
    "%s ignores a damaged checkpoint and reports it",
    async (verb) => {
      const session = damaged("checkpoint_build.json", "a flipped bit");
      session.loseDatabase();
      await session.with(async (maestro) => {
        if (verb === "show") await maestro.show(session.id);
        if (verb === "resume") await (await maestro.resume(session.id)).result();
        if (verb === "fork") await maestro.fork(session.id, { at: "build" });
      });
      expect(session.notices.join("\n")).toContain(
        "with 1 finished phase. Passed over: checkpoint_build.json (damaged).",
      );
    },
  );

  test("a checkpoint after a damaged one is ignored and reported too", async () => {
    const session = damaged("checkpoint_plan.json", "a torn end");
    session.loseDatabase();
    await session.with((maestro) => maestro.show(session.id));
    expect(session.notices.join("\n")).toContain(
      "Passed over: checkpoint_build.json (a checkpoint before it is missing), checkpoint_plan.json (damaged).",
    );
  });

  test("prune removes no artifact while a damaged checkpoint may need it", async () => {
    const session = damaged("checkpoint_build.json", "a flipped bit");
    session.loseDatabase();
    const artifacts = new Artifacts(session.stateDir);
    const hash = await artifacts.put(Buffer.from("perhaps what the damaged one points to"));
    const long = new Date(Date.now() - 48 * 3_600_000);
    utimesSync(join(session.stateDir, "artifacts", hash.slice(0, 2), hash), long, long);
    const pruned = await session.with((maestro) => maestro.prune({ olderThanMs: 0 }));
    expect(pruned.artifacts).toBe(0);
    expect(session.notices.join("\n")).toContain("No artifact is removed");
    expect((await artifacts.get(hash)).toString()).toContain("perhaps");
    // Without damage the artifact is removed.
    writeFileSync(
      session.file("checkpoint_build.json"),
      readFileSync(original.file("checkpoint_build.json")),
    );
    expect((await session.with((maestro) => maestro.prune({ olderThanMs: 0 }))).artifacts).toBe(1);
  });
});
