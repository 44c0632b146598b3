import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import type { FaultPoint } from "../../src/testing/index.ts";
import { startOf } from "../../src/workspace/process-end.ts";
import { readMarks } from "../crash/support/effects.ts";
import { type ServedWorld, servedEffects } from "../crash/support/served-team.ts";
import { until } from "../crash/support/until.ts";
import { type ServerProcess, startServer, token } from "../e2e/server/support/server.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";
import { inFolder } from "./in-folder.ts";
import { expectNoRepeat, pick } from "./settle-effects.ts";

const killsPlanned = 4;
const mostLives = 20;
const mostLifeMs = 90_000;
const team = join(import.meta.dirname, "../crash/support/served-team.ts");

type Plan = Pick<ServedWorld, "fault" | "killIn">;

interface View {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly effects: readonly { readonly seq: number; readonly name: string; readonly state: string }[];
  readonly phases: readonly { readonly personas: readonly { readonly summary: string | null }[] }[];
}

/** Of the server: around the effects, and around the word with which a person settles them over HTTP. */
const points: readonly FaultPoint[] = [
  "effect.intended:before-commit",
  "effect.intended:after-commit",
  "effect.settled:before-commit",
  "effect.settled:after-commit",
  "effect.unknown:before-commit",
  "effect.unknown:after-commit",
  "signal.sent:before-commit",
  "signal.sent:after-commit",
  "signal.received:before-commit",
  "signal.received:after-commit",
  "session.claimed:after-commit",
];

/**
 * A server runs a function in a process of its own, whose effects must happen at most once. The server is killed, or the
 * function's process; a person settles over HTTP what no probe knows. In the end each effect has happened exactly once.
 */
export function killServer(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const plan = Array.from({ length: killsPlanned }, () => planKill(random));
  const planned = JSON.stringify(plan);
  return inFolder(async (folder) => {
    const served = new Served(folder);
    try {
      for (let lives = 1; !(await served.live(plan.shift() ?? {})); lives += 1)
        if (lives > mostLives) throw new Error(`not completed after ${mostLives} lives`);
      orElse("lost", () => expect(served.marks).toEqual([...servedEffects]));
      return served.kills;
    } catch (cause) {
      throw new Error(`seed ${seed}, kills ${planned}`, { cause });
    } finally {
      await served.end();
    }
  });
}

class Served {
  kills = 0;
  #life = 0;
  readonly #folder: string;
  readonly #ends: (() => Promise<void>)[] = [];
  /** Processes of functions that were stopped. */
  readonly #continued = new Set<number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  get #marksFile(): string {
    return join(this.#folder, "marks");
  }

  get marks(): string[] {
    return readMarks(this.#marksFile);
  }

  async end(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#continue();
  }

  /** One server, until it is killed or the session is completed. */
  async live(plan: Plan): Promise<boolean> {
    this.#life += 1;
    const world: ServedWorld = { marks: this.#marksFile, life: this.#life, ...plan };
    const env = { MAESTRO_API_TOKEN: token, SERVED_WORLD: JSON.stringify(world), MAESTRO_LEASE_MS: "1000" };
    const keep = (end: () => Promise<void>) => void this.#ends.push(end);
    let isCompleted = false;
    try {
      const server = await startServer(join(this.#folder, "state"), ["--team", team], env, keep);
      isCompleted = await this.#serve(server, plan);
      if (!isCompleted) await server.exited;
      else server.child.kill("SIGTERM");
      const { signal } = await server.exited;
      if (signal === "SIGKILL") this.kills += 1;
    } catch (error) {
      // Killed while it started.
      if (!/maestro serve ended with null/.test(String(error))) throw error;
      this.kills += 1;
    }
    if (readMarks(`${this.#marksFile}.ended-${this.#life}`).includes("function")) this.kills += 1;
    expectNoRepeat(this);
    return isCompleted;
  }

  /** False: the server is dead, or ends by its plan. */
  async #serve(server: ServerProcess, plan: Plan): Promise<boolean> {
    const isAlive = () => server.child.exitCode === null && server.child.signalCode === null;
    const ask = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        // The connection ends a moment before the process does.
        if (!(error instanceof TypeError)) throw error;
        await until("the server has ended", () => !isAlive());
        return undefined;
      }
    };
    const view = await ask(() =>
      server.post<View>("/v1/sessions", { team: "served", brief: "Carry it.", key: "k" }),
    );
    let isAsked = false;
    const deadline = performance.now() + mostLifeMs;
    if (view === undefined) return false;
    while (isAlive()) {
      const now = await ask(() => server.get<View>(`/v1/sessions/${view.id}`));
      if (now === undefined) return false;
      if (performance.now() > deadline)
        throw new Error(`${now.status} after ${mostLifeMs} ms: ${JSON.stringify(now.effects)}`);
      if (now.status === "completed") {
        const done = servedEffects.map((effect) => `${effect}, done`).join("; ");
        orElse("lost", () => expect(now.phases[0]?.personas[0]?.summary).toBe(done));
        return true;
      }
      await this.#stopIn(server, plan);
      const unknown = now.effects.find(({ state }) => state === "unknown");
      if (now.status === "parked") {
        expect(now.reason).toBe("unknown");
        expect(unknown).toBeDefined();
        await this.#continue();
        await ask(() => this.#settle(server, view.id, unknown as { seq: number; name: string }));
      } else if (now.status === "paused" && !isAsked) {
        // It was settled, and the server was killed before the session went into the queue.
        await ask(() => server.post(`/v1/sessions/${view.id}/resume`));
        isAsked = true;
      }
      await pass(20);
    }
    return false;
  }

  /** A person looks at the side file. */
  async #settle(server: ServerProcess, id: string, { seq, name }: { seq: number; name: string }) {
    const happened = this.marks.includes(name);
    const body = { happened, ...(happened && { result: `${name}, done` }), resume: true };
    await server.post(`/v1/sessions/${id}/steps/${seq}/settle`, body);
  }

  /** The function's process is stopped in an effect: its server is killed, and the next one must not believe the probe. */
  async #stopIn(server: ServerProcess, { killIn }: Plan): Promise<void> {
    if (killIn?.who !== "stop" || !this.#stopped.some((pid) => !this.#continued.has(pid))) return;
    server.child.kill("SIGKILL");
    await server.exited;
  }

  get #stopped(): number[] {
    return readMarks(`${this.#marksFile}.stopped`).map(Number);
  }

  /** Continues the stopped processes, which end without their server. Then a person can know what happened. */
  async #continue(): Promise<void> {
    for (const pid of this.#stopped.filter((one) => !this.#continued.has(one))) {
      this.#continued.add(pid);
      if ((await startOf(pid)) === undefined) continue;
      process.kill(pid, "SIGCONT");
      await until("the function's process has ended", async () => (await startOf(pid)) === undefined);
    }
  }
}

function planKill(random: () => number): Plan {
  if (random() < 0.5)
    return { fault: { point: pick(random, points), hit: 1 + Math.floor(random() * 2), act: "kill" } };
  const who = pick(random, ["function", "server", "stop"] as const);
  const moment = random() < 0.5 ? "before" : "after";
  return { killIn: { effect: pick(random, servedEffects), moment, who } };
}
