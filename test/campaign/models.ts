import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import { expectPaidOnce } from "../crash/support/billing.ts";
import { ModelPlace } from "../crash/support/model-place.ts";
import { answersNeeded } from "../crash/support/model-replies.ts";
import type { Program } from "../crash/support/program.ts";
import { until } from "../crash/support/until.ts";
import { sendAgain, sentCalls } from "../support/sent-calls.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";

export const protocols = [
  ["OpenAI chat completions", "openai-compatible/llama-3.3-70b"],
  ["OpenAI responses", "openai/gpt-5"],
  ["Anthropic messages", "anthropic/claude-sonnet-4-5"],
  ["Google generateContent", "google/gemini-2.5-pro"],
] as const;

const mostKills = 6;

interface Undisturbed {
  readonly ending: unknown;
  readonly artifacts: unknown;
  /** Hashes of every request, in any order. */
  readonly questions: ReadonlySet<string>;
}

const undisturbed = new Map<string, Promise<Undisturbed>>();

export const modelTrials: readonly Trial[] = protocols.map(([name, model]) => ({
  title: name,
  run: async (seed) => (await killModels(model, seed)).kills,
}));

/** Kills the drivers of one session of models: recorded answers are never requested or paid again. */
export async function killModels(model: string, seed: number): Promise<{ kills: number; atWork: number }> {
  if (!undisturbed.has(model)) undisturbed.set(model, runUndisturbed(model));
  const expected = await (undisturbed.get(model) as Promise<Undisturbed>);
  const place = await ModelPlace.open(model);
  try {
    const { output, ...killed } = await killUntilDone(place, seededRandom(seed));
    await expectAsUndisturbed(place, output, expected);
    return killed;
  } catch (cause) {
    throw new Error(`${model}, seed ${seed}`, { cause });
  } finally {
    await place.remove();
  }
}

async function runUndisturbed(model: string): Promise<Undisturbed> {
  const place = await ModelPlace.open(model);
  try {
    const output = await outputOf(place.drive());
    expect(output.ending).toMatchObject({ status: "completed" });
    expect(place.models.log).toHaveLength(answersNeeded);
    const ledger = await place.ledger();
    expectPaidOnce(ledger, place.models.log);
    expect(ledger.every(({ status }) => status === "settled")).toBe(true);
    return { ...output, questions: new Set(place.models.log.map(({ hash }) => hash)) };
  } finally {
    await place.remove();
  }
}

export async function killUntilDone(place: ModelPlace, random: () => number) {
  let [kills, atWork] = [0, 0];
  while (kills < mostKills) {
    const program = place.drive();
    const before = place.models.log.length;
    await killAtSomeMoment(program, place, random);
    const { signal } = await program.ended;
    if (signal !== "SIGKILL") return { kills, atWork, output: await outputOf(program) };
    kills += 1;
    if (place.models.log.length > before) atWork += 1;
  }
  return { kills, atWork, output: await outputOf(place.drive()) };
}

/** Some requests later plus some milliseconds; now and then before the first request. */
async function killAtSomeMoment(program: Program, place: ModelPlace, random: () => number): Promise<void> {
  const goal = place.models.log.length + Math.floor(random() * 5);
  // Mostly within a call, sometimes long after its record.
  const thenMs = random() ** 2 * 150;
  const come = () => !program.isAlive || (program.isReady && place.models.log.length >= goal);
  // Five calls of a program that shares a busy machine with other trials.
  await until("the moment has come", come, { withinMs: 240_000 });
  await pass(thenMs);
  program.signal("SIGKILL");
}

async function expectAsUndisturbed(
  place: ModelPlace,
  output: Output,
  { ending, artifacts, questions }: Undisturbed,
): Promise<void> {
  orElse("lost", () => expect([output.ending, output.artifacts]).toEqual([ending, artifacts]));
  const { log } = place.models;
  expect(new Set(log.map(({ hash }) => hash)), "a replay asks the same bytes").toEqual(questions);
  const sent = await sendAgain(await sentCalls(place.stateDir, "shelf"));
  orElse("lost", () => expect(new Set(sent), "messages in the journal").toEqual(questions));
  const ledger = await place.ledger();
  orElse("repeated", () => expectPaidOnce(ledger, log));
  const tokens = ledger.reduce((sum, row) => {
    if (row.status === "open" || row.usage === null) return sum;
    return sum + row.usage.inputTokens + row.usage.outputTokens;
  }, 0);
  orElse("lost", () => expect(output.usage.inputTokens + output.usage.outputTokens).toBe(tokens));
}

interface Output {
  readonly ending: unknown;
  readonly artifacts: unknown;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

export async function outputOf(program: Program): Promise<Output> {
  const { code, stdout, stderr } = await program.ended;
  expect(code, `stderr: ${stderr}`).toBe(0);
  return JSON.parse(stdout) as Output;
}
