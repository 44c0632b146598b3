import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { openReadonly } from "../../src/api/open-readonly.ts";
import { loadConfig } from "../../src/config/load.ts";
import { StateCorrupt } from "../../src/domain/errors.ts";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { forgeStep, rechain } from "../support/rechain.ts";
import { canInject } from "./damage-support/run-clerk.ts";
import { newStateDir, temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { ThreePhases } from "./damage-support/three-phases.ts";

const entry = fileURLToPath(new URL("../../bin/maestro.cjs", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command. `under`: a command that runs it, such as strace. */
async function maestro(args: readonly string[], under: readonly string[] = []): Promise<Ended> {
  const [command = "", ...rest] = [...under, process.execPath, entry, ...args];
  const child = spawn(command, rest, { env: { ...process.env, UV_THREADPOOL_SIZE: "1" } });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}

const doctor = (stateDir: string, under?: readonly string[]) =>
  maestro(["doctor", "--offline", "--json", "--state-dir", stateDir], under);
const verify = (stateDir: string, id: string, under?: readonly string[]) =>
  maestro(["checkpoints", "verify", id, "--state-dir", stateDir], under);

interface Findings {
  readonly findings: readonly { readonly what: string; readonly found: string; readonly state: string }[];
}

const wrongIn = ({ stdout }: Ended) =>
  (JSON.parse(stdout) as Findings).findings.filter(({ state }) => state === "wrong");

describe("artifacts", () => {
  let [original, id] = ["", ""];

  beforeAll(async () => {
    original = join(temporaryDirectory(), "state");
    const work = persona("writer", {
      run: async ({ workspace }) => {
        await workspace.write("a.txt", "content of a");
        return { summary: "done", outputs: {} };
      },
    });
    const team = defineTeam("writers", { phases: [phase("write", { personas: [work] })] });
    const hive = await open({ stateDir: original, teams: [team] });
    const session = await hive.start(team, { brief: "Write it." });
    await session.result();
    id = session.id;
    await hive.close();
  });

  /** A copy, and the path of the artifact with the file's content in it. */
  function copy(): { readonly stateDir: string; readonly artifact: string } {
    const stateDir = newStateDir();
    cpSync(original, stateDir, { recursive: true });
    const artifacts = readdirSync(join(stateDir, "artifacts"), { recursive: true, encoding: "utf8" })
      .map((name) => join(stateDir, "artifacts", name))
      .filter((path) => path.length > 80 && readFileSync(path, "utf8") === "content of a");
    return { stateDir, artifact: artifacts[0] ?? "" };
  }

  test("are verified with their session", async () => {
    const { stateDir } = copy();
    const verified = await verify(stateDir, id);
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.stderr).toMatch(/[2-9] artifacts verified/);
    const { code, stdout } = await doctor(stateDir);
    expect(code).toBe(0);
    expect(stdout).toMatch(/and [2-9] files of 1 session verified/);
  });

  test.each([
    ["is missing", "is missing.", (path: string) => unlinkSync(path)],
    ["has changed", "is damaged: its content has changed.", (path: string) => appendFileSync(path, "x")],
    [
      "was replaced by a link to the same content",
      "is a symbolic link.",
      (path: string) => {
        copyFileSync(path, `${path}.elsewhere`);
        unlinkSync(path);
        symlinkSync(`${path}.elsewhere`, path);
      },
    ],
    [
      "was replaced by a folder",
      "is a folder.",
      (path: string) => {
        unlinkSync(path);
        mkdirSync(path);
      },
    ],
  ])("one that %s is named as that by verify and by doctor", async (_, problem, harm) => {
    const { stateDir, artifact } = copy();
    harm(artifact);
    for (const ended of [await verify(stateDir, id), await doctor(stateDir)]) {
      expect(ended.code).toBe(5);
      expect(`${ended.stdout}${ended.stderr}`.replaceAll(/\s+/g, " ")).toMatch(
        new RegExp(`Artifact ?${artifact.split("/").at(-1)} ?${problem}`),
      );
    }
  });

  test.skipIf(!canInject)(
    "one that the disk refuses to read is not called damaged (needs strace)",
    async () => {
      const { stateDir, artifact } = copy();
      const refusing = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", artifact];
      for (const call of ["read", "openat"]) {
        const under = [...refusing, "-e", `trace=${call}`, "-e", `inject=${call}:error=EIO`];
        for (const ended of [await verify(stateDir, id, under), await doctor(stateDir, under)]) {
          expect(ended.code).toBe(3);
          const text = `${ended.stdout}${ended.stderr}`.replaceAll(/\s+/g, " ");
          expect(text).toContain("could not be read: the disk reported an error.");
          expect(text).not.toMatch(/damaged|resume|missing/);
        }
      }
    },
  );
});

describe("checkpoints verify", () => {
  let original: ThreePhases;
  beforeAll(async () => {
    original = await ThreePhases.pausedInTest(newStateDir());
  });

  test.skipIf(!canInject)("waits for the file of a seal that is being written (needs strace)", async () => {
    const stateDir = newStateDir();
    const program = fileURLToPath(new URL("damage-support/pause-and-die.ts", import.meta.url));
    // Two seconds between the row of each seal and the name of its file.
    const slow = [
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      "trace=rename",
      "-e",
      "inject=rename:delay_enter=2000000",
    ];
    const driver = spawn("strace", [...slow, process.execPath, program, stateDir], { stdio: "ignore" });
    const ended = once(driver, "close");
    const folder = join(stateDir, "sessions");
    const seen = await vi.waitUntil(() => sealedWithoutFile(stateDir, folder), {
      timeout: 120_000,
      interval: 20,
    });
    const maestro = await openReadonly({ loaded: await loadConfig({ overrides: { stateDir } }) });
    const found = await maestro.checkpoints(seen);
    await maestro.close();
    expect(found.map(({ phase, valid }) => [phase, valid])).toContainEqual(["plan", true]);
    expect(found.filter(({ valid }) => !valid)).toEqual([]);
    await ended;
  });

  test.each(["a symbolic link", "a folder"])("names a checkpoint that was replaced by %s", async (kind) => {
    const session = original.copy(newStateDir());
    const file = session.file("checkpoint_plan.json");
    copyFileSync(file, `${file}.elsewhere`);
    rmSync(file);
    if (kind === "a folder") mkdirSync(file);
    else symlinkSync(`${file}.elsewhere`, file);
    const ended = await verify(session.stateDir, session.id);
    expect(ended.code).toBe(5);
    expect(ended.stdout.replaceAll(/\s+/g, " ")).toContain(`is ${kind}`);
  });

  test.skipIf(!canInject)(
    "reports a checkpoint that the disk refuses to read, and a restore waits for it (needs strace)",
    async () => {
      const session = original.copy(newStateDir());
      const file = session.file("checkpoint_plan.json");
      const under = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-P",
        file,
        "-e",
        "trace=read",
        "-e",
        "inject=read:error=EIO",
      ];
      const ended = await verify(session.stateDir, session.id, under);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("checkpoint_plan.json could not be read");
      expect(ended.stderr).not.toMatch(/damaged|resume/);
      session.loseDatabase();
      const restored = await maestro(["show", session.id, "--state-dir", session.stateDir], under);
      expect(restored.code).toBe(3);
      expect(restored.stderr).toContain("could not be read");
      // Nothing was restored without it.
      expect((await verify(session.stateDir, session.id)).code).toBe(0);
    },
  );

  test("and doctor end with exit 5 when rows of a sealed phase were changed and chained anew", async () => {
    const session = original.copy(newStateDir());
    rechain(session.stateDir, session.id, forgeStep("plan first", "plan forged"));
    const verified = await verify(session.stateDir, session.id);
    expect(verified.code).toBe(5);
    expect(verified.stderr).toMatch(/not the ones that checkpoint \w+\s+sealed/);
    const examined = await doctor(session.stateDir);
    expect(examined.code).toBe(5);
    expect(wrongIn(examined)).toMatchObject([
      {
        what: `session ${session.id}`,
        found: expect.stringMatching(/not the ones that checkpoint plan sealed/),
      },
    ]);
  });
});

describe("doctor", () => {
  test("verifies all sessions: damage in the oldest of 450 is found", async () => {
    const session = await ThreePhases.pausedInTest(newStateDir());
    await session.with(async (hive) => {
      for (let more = 1; more < 450; more += 1) await hive.create(session.team, { brief: `brief ${more}` });
    });
    const whole = await doctor(session.stateDir);
    expect(whole.stdout).toMatch(/of 450 sessions verified/);
    expect(whole.code).toBe(0);
    const database = new DatabaseSync(join(session.stateDir, "maestro.db"));
    database.exec("UPDATE journal SET body = body || ' ' WHERE session = 1 AND seq = 5");
    database.close();
    const damaged = await doctor(session.stateDir);
    expect(damaged.code).toBe(5);
    expect(wrongIn(damaged)).toMatchObject([{ what: `session ${session.id}` }]);
  });

  test.skipIf(!canInject)(
    "does not call a database damaged that the disk refuses to read (needs strace)",
    async () => {
      const session = await ThreePhases.pausedInTest(newStateDir());
      const path = join(session.stateDir, "maestro.db");
      const refusing = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", path, "-e", "trace=pread64"];
      // From the header over the schema to the pages that SQLite's own check reads; some fail once, some for good.
      for (const when of ["1", "3+", "5", "5+", "8", "8+", "12+", "20", "30+"]) {
        const ended = await doctor(session.stateDir, [
          ...refusing,
          "-e",
          `inject=pread64:error=EIO:when=${when}`,
        ]);
        const isForGood = when.endsWith("+");
        expect(isForGood ? [3] : [0, 3], `${when}: ${ended.stdout}`).toContain(ended.code);
        expect(ended.stdout, when).toMatch(ended.code === 3 ? /could not be read: the disk/ : /verified/);
        expect(ended.stdout, when).not.toMatch(/damaged|aside/);
      }
      expect((await doctor(session.stateDir)).code).toBe(0);
    },
  );
});

test("a damaged page of the schema is named as damage, or changes nothing", async () => {
  const session = await ThreePhases.pausedInTest(newStateDir());
  const path = join(session.stateDir, "maestro.db");
  const whole = readFileSync(path);
  const pages = schemaPages(path);
  const formatNumber = [60, 61, 62, 63];
  const errors: unknown[] = [];
  for (const page of pages) {
    // All of the header, and a sample of the rest.
    for (let at = 0; at < 4_096; at += page === 1 && at < 112 ? 1 : 37) {
      if (page === 1 && formatNumber.includes(at)) continue;
      const copy = Buffer.from(whole);
      const place = (page - 1) * 4_096 + at;
      copy[place] = (copy[place] ?? 0) ^ 1;
      session.loseDatabase();
      writeFileSync(path, copy);
      await session.with((hive) => hive.show(session.id)).catch((error: unknown) => errors.push(error));
    }
  }
  expect(errors.length).toBeGreaterThan(100);
  expect(errors.filter((error) => !StateCorrupt.is(error))).toEqual([]);
});

function schemaPages(path: string): number[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const pages = database.prepare("SELECT DISTINCT pageno FROM dbstat WHERE name = 'sqlite_schema'").all();
  database.close();
  return pages.map(({ pageno }) => Number(pageno));
}

/** The session whose seal of `plan` is recorded while its file is not there. */
function sealedWithoutFile(stateDir: string, folder: string): string | undefined {
  if (!existsSync(join(stateDir, "maestro.db"))) return undefined;
  const [id] = existsSync(folder) ? readdirSync(folder) : [];
  if (id === undefined || existsSync(join(folder, id, "checkpoint_plan.json"))) return undefined;
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  try {
    return database.prepare("SELECT 1 FROM journal WHERE kind = 'checkpoint.sealed'").get() && id;
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}
