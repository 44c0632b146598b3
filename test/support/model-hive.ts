import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { type Maestro, type OpenOptions, open, type StartOptions } from "../../src/api/open.ts";
import type { SessionResult, SessionView } from "../../src/journal/view.ts";
import type { Team } from "../../src/team/define.ts";
import type { ModelTurn } from "./loopback-model-turn.ts";
import { PaidModels, type Reply } from "./paid-models.ts";

/** One model per protocol. */
export const protocols = [
  "openai-compatible/llama-3.3-70b",
  "openai/gpt-5",
  "anthropic/claude-sonnet-4-5",
  "google/gemini-2.5-pro",
] as const;

/** Most tests need no waits between attempts. */
const shortWaits = { baseDelayMs: 10, maxDelayMs: 10 };

export interface Ended {
  readonly result: SessionResult;
  readonly view: SessionView;
  readonly tookMs: number;
}

/** A Maestro with real provider packages that point to our server. Removed after the test. */
export class ModelHive {
  readonly models: PaidModels;
  readonly maestro: Maestro;
  readonly stateDir: string;

  private constructor(models: PaidModels, maestro: Maestro, stateDir: string) {
    this.models = models;
    this.maestro = maestro;
    this.stateDir = stateDir;
  }

  static async open(
    reply: Reply,
    options: OpenOptions & { readonly paceMs?: number } = {},
  ): Promise<ModelHive> {
    const { paceMs = 0, ...overrides } = options;
    const folder = mkdtempSync(join(tmpdir(), "maestro-hive-"));
    const models = await PaidModels.start(reply, { paceMs });
    for (const [name, value] of Object.entries(models.server.env)) vi.stubEnv(name, value);
    const stateDir = join(folder, "state");
    const maestro = await open({
      stateDir,
      ...overrides,
      attempts: { ...shortWaits, ...overrides.attempts },
      rounds: { ...shortWaits, ...overrides.rounds },
    });
    onTestFinished(async () => {
      await maestro.close();
      await models.close();
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true, force: true });
    });
    return new ModelHive(models, maestro, stateDir);
  }

  async run(team: Team, options: Partial<StartOptions> = {}): Promise<Ended> {
    const begin = performance.now();
    const session = await this.maestro.start(team, { brief: "Do it.", ...options });
    return this.ended(await session.result(), begin);
  }

  async ended(result: SessionResult, begin = performance.now()): Promise<Ended> {
    const view = await this.maestro.show(result.id);
    return { result, view, tookMs: performance.now() - begin };
  }
}

/** The attempts of one persona, with their outcomes. */
export function attemptsOf({ view }: Ended, persona: string) {
  const found = view.phases.flatMap(({ personas }) => personas).find(({ name }) => name === persona);
  return (found?.attempts ?? []).map(({ round, attempt, status, failure, healing }) => ({
    at: `${round}.${attempt}`,
    status,
    category: failure?.category ?? null,
    code: failure?.code ?? null,
    healing: healing.map(({ healer, outcome }) => `${healer}: ${outcome}`),
  }));
}

export const calls = (tool: string, input: unknown): ModelTurn => ({ calls: [{ id: "c", tool, input }] });

/** Writes a file, then submits: two answers, so that a recorded one precedes the one that fails. */
export const writesThenSubmits = (answersBefore: number): ModelTurn =>
  answersBefore === 0
    ? calls("write_file", { path: "a.txt", content: "a\n" })
    : calls("submit", { summary: "done" });
