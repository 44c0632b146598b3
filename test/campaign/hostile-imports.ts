import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import {
  defineTeam,
  type Maestro,
  MaestroError,
  NotTrusted,
  open,
  persona,
  phase,
  type Team,
} from "../../src/index.ts";
import { readExport, sealAgain, writeExport } from "../support/sealed-export.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { type Forged, forge, type Parts } from "./forged-exports.ts";
import { inFolder } from "./in-folder.ts";

/** A team of functions and models whose second phase fails once. `ran`: every step whose effect ran. */
const carriedTeam = (ran: string[]) =>
  defineTeam("carried", {
    model: "simulated",
    phases: ["plan", "build", "test"].map((name) =>
      phase(name, {
        gate: 0.5,
        personas: [
          persona("worker", {
            maxAttempts: 2,
            run: async ({ step, workspace }) => {
              await step("work", async () => void ran.push(name));
              // Its first attempt fails.
              if (name === "build" && ran.filter((each) => each === "build").length === 1)
                throw new Error("once more");
              await workspace.write(`${name}.txt`, name);
              return {
                summary: name,
                outputs: { name },
                decisions: [{ title: "t", choice: "c", reason: "r", rejected: ["d"] }],
              };
            },
          }),
          persona("writer", { instructions: "Write it.", contract: { deliverables: [`docs/${name}.md`] } }),
        ],
      }),
    ),
  });

/** Truthful exports: one that stopped in the middle, one that is complete, and a fork. */
async function truthfulExports(folder: string): Promise<readonly Parts[]> {
  const team = carriedTeam([]);
  const maestro = await openAt(join(folder, "source"), team);
  const files: string[] = [];
  const exported = async (id: string) => {
    const file = join(folder, `truth-${files.length}`);
    await maestro.exportCheckpoints(id, file);
    files.push(file);
  };
  try {
    await (await maestro.start(team, { brief: "b", key: "half", pauseAfter: ["build"] })).result();
    await maestro.reject("half", { note: "shorter" });
    await maestro.setBudget("half", { tokens: 1_000_000 });
    await (await maestro.resume("half")).result();
    await exported("half");
    await (await maestro.start(team, { brief: "b", key: "whole", teamFile: "/tmp/team.ts" })).result();
    await exported("whole");
    const fork = await maestro.fork("whole", { at: "test", fresh: true, key: "fork" });
    await (await maestro.resume(fork.id)).result();
    await exported(fork.id);
  } finally {
    await maestro.close();
  }
  return files.map((file) => {
    const { rest, contents } = readExport(file);
    return { outer: rest as Parts["outer"], contents };
  });
}

const openAt = (stateDir: string, team: Team): Promise<Maestro> =>
  open({
    stateDir,
    teams: [team],
    attempts: { baseDelayMs: 1, maxDelayMs: 1 },
  });

/**
 * Forged exports, each with one lie, many of them under right seals: an import refuses them with an error of Maestro and
 * leaves nothing behind, or they are a history that contradicts nothing. Then it can be looked at, it is exactly what was
 * imported, other sessions are listed as before, and nothing of it runs.
 */
export function attackWithImports(seed: number, attacks = 200): Promise<number> {
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const truths = await truthfulExports(folder);
    let target = await Target.at(folder, 0);
    try {
      for (const [index, truth] of truths.entries()) {
        const file = join(folder, "control");
        writeExport(file, truth.outer, sealAgain(truth.contents));
        expect(await target.attack(file), `the truth itself, ${index}`).toBe("accepted");
        target = await target.next();
      }
      for (let attack = 0; attack < attacks; attack += 1) {
        const forged = forge(random, truths[attack % truths.length] as Parts);
        const file = join(folder, "forged");
        writeFileSync(file, forged.bytes);
        if ((await target.attack(file, forged)) === "accepted") target = await target.next();
        const left = readdirSync(folder).filter(
          (entry) => !/^(?:source|truth-\d|control|forged|target-\d+)$/.test(entry),
        );
        orElse("let in", () => expect(left, forged.what).toEqual([]));
      }
    } finally {
      await target.close();
    }
    return attacks;
  });
}

/** A state directory with a session of its own, which no import may change. */
class Target {
  readonly #folder: string;
  readonly #number: number;
  readonly #maestro: Maestro;
  readonly #own: string;
  readonly #ran: readonly string[];
  #before: readonly string[] = [];

  private constructor(folder: string, number: number, maestro: Maestro, own: string, ran: readonly string[]) {
    this.#ran = ran;
    this.#folder = folder;
    this.#number = number;
    this.#maestro = maestro;
    this.#own = own;
  }

  static async at(folder: string, number: number): Promise<Target> {
    const stateDir = join(folder, `target-${number}`);
    mkdirSync(stateDir);
    const ran: string[] = [];
    const team = carriedTeam(ran);
    const maestro = await openAt(stateDir, team);
    const { id } = await maestro.create(team, { brief: "of this machine", key: "own" });
    const target = new Target(folder, number, maestro, id, ran);
    target.#before = target.#files();
    return target;
  }

  get #stateDir(): string {
    return join(this.#folder, `target-${this.#number}`);
  }

  async next(): Promise<Target> {
    await this.close();
    rmSync(this.#stateDir, { recursive: true });
    return Target.at(this.#folder, this.#number + 1);
  }

  close(): Promise<void> {
    return this.#maestro.close();
  }

  /** "accepted", or why it was refused. */
  async attack(file: string, forged?: Forged): Promise<string> {
    const maestro = this.#maestro;
    const error: unknown = await maestro.importCheckpoints(file).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const what = `${forged?.what}: ${String(error)}`;
    if (error !== undefined) {
      orElse("raw error", () => expect(MaestroError.is(error), what).toBe(true));
      orElse("raw error", () => expect([2, 5], what).toContain((error as MaestroError).exitCode));
      orElse("let in", () => expect(this.#files(), what).toEqual(this.#before));
      const known = await maestro.sessions();
      orElse("let in", () =>
        expect(
          known.map(({ id }) => id),
          what,
        ).toEqual([this.#own]),
      );
      return (error as Error).message;
    }
    await this.#judge(file, what);
    return "accepted";
  }

  /** An accepted import is complete, equals its file, is listed with the others, and runs nothing. */
  async #judge(file: string, what: string): Promise<void> {
    const maestro = this.#maestro;
    const { session, checkpoints } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
      readonly session: string;
      readonly checkpoints: readonly string[];
    };
    const looks = [
      () => maestro.show(session),
      () => maestro.checkpoints(session),
      () => maestro.list({ order: "created", limit: 10 }),
      () => maestro.sessions(),
      () => maestro.usage({ by: "persona" }),
      () => maestro.usage({ by: "day", session }),
      () => maestro.budgets(session),
      () => maestro.demands(session),
      () => maestro.forecast(session),
    ];
    for (const look of looks)
      await look().catch((error: unknown) =>
        orElse("raw error", () => expect(error, `${what}: ${String(look)}`).toBeUndefined()),
      );
    const refused: unknown = await maestro.resume(session).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    orElse("let in", () => expect(NotTrusted.is(refused), `${what}: ${String(refused)}`).toBe(true));
    const acts = [
      () => maestro.approve(session),
      () => maestro.reject(session, { note: "again" }),
      () => maestro.apply(session, { to: this.#folder }),
      () => maestro.branch(session, { branch: "theirs", repo: this.#folder }),
    ];
    for (const act of acts) {
      const done: unknown = await act().catch((error: unknown) => error);
      orElse("let in", () =>
        expect(MaestroError.is(done), `${what}: ${String(act)}: ${String(done)}`).toBe(true),
      );
    }
    orElse("let in", () => expect(this.#ran, what).toEqual([]));
    // Made anew from the rows alone, the checkpoints are those of the file: no summary says anything else.
    rmSync(join(this.#stateDir, "sessions", session), { recursive: true });
    const again = join(this.#folder, "control");
    rmSync(again, { force: true });
    await maestro.exportCheckpoints(session, again);
    const made = JSON.parse(gunzipSync(readFileSync(again)).toString()) as {
      readonly checkpoints: readonly string[];
    };
    orElse("let in", () => expect(made.checkpoints.toSorted(), what).toEqual(checkpoints.toSorted()));
  }

  #files(): string[] {
    return readdirSync(this.#stateDir, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith("maestro.db"))
      .sort();
  }
}

export const importTrials: readonly Trial[] = [{ title: "imports", run: (seed) => attackWithImports(seed) }];
