import { setTimeout as pass } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { expectPaidOnce } from "./support/billing.ts";
import { ModelPlace } from "./support/model-place.ts";
import { answersNeeded } from "./support/model-replies.ts";
import type { Program } from "./support/program.ts";
import { until } from "./support/until.ts";

const killsEach = 25;
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

const protocols = [
  ["OpenAI chat completions", "openai-compatible/llama-3.3-70b"],
  ["OpenAI responses", "openai/gpt-5"],
  ["Anthropic messages", "anthropic/claude-sonnet-4-5"],
  ["Google generateContent", "google/gemini-2.5-pro"],
] as const;

interface Undisturbed {
  readonly ending: unknown;
  readonly artifacts: unknown;
  /** Every question, in any order. */
  readonly questions: ReadonlySet<string>;
}

/** Two at once: that is what the machine has, and a busy one makes other moments. */
describe.concurrent(`a team of models, killed at random moments (TEST_SEED=${seed})`, () => {
  it.each(protocols)(
    "%s: what was recorded is never asked or paid again, and the files are the same",
    async (name, model) => {
      const random = seededRandom(seed + protocols.findIndex(([, other]) => other === model));
      const undisturbed = await runUndisturbed(model);
      let kills = 0;
      let atWork = 0;
      let lost = 0;
      for (let session = 0; kills < killsEach; session += 1) {
        const about = `session ${session} over ${name}, TEST_SEED=${seed}`;
        const place = await ModelPlace.open(model);
        try {
          const killed = await killUntilDone(place, random, killsEach - kills);
          kills += killed.kills;
          atWork += killed.atWork;
          lost += await expectAsUndisturbed(place, killed.output, undisturbed);
        } catch (error) {
          throw new Error(about, { cause: error });
        } finally {
          await place.remove();
        }
      }
      expect(atWork, "killed in the middle of their work").toBeGreaterThan(killsEach / 3);
      console.log(
        `${name}: ${kills} kills, ${atWork} after a question of that process, ${lost} answers lost and asked again`,
      );
    },
  );
});

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

async function killUntilDone(place: ModelPlace, random: () => number, mostKills: number) {
  let kills = 0;
  let atWork = 0;
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

/** Some questions later and some milliseconds more; now and then before the first question. */
async function killAtSomeMoment(program: Program, place: ModelPlace, random: () => number): Promise<void> {
  const goal = place.models.log.length + Math.floor(random() * 5);
  // Mostly within a call, sometimes long after its record.
  const thenMs = random() ** 2 * 150;
  const come = () => !program.isAlive || (program.isReady && place.models.log.length >= goal);
  await until("the moment has come", come);
  await pass(thenMs);
  program.signal("SIGKILL");
}

async function expectAsUndisturbed(
  place: ModelPlace,
  output: Output,
  { ending, artifacts, questions }: Undisturbed,
): Promise<number> {
  expect(output.ending).toEqual(ending);
  expect(output.artifacts).toEqual(artifacts);
  const { log } = place.models;
  expect(new Set(log.map(({ hash }) => hash)), "a replay asks byte for byte the same").toEqual(questions);
  const ledger = await place.ledger();
  expectPaidOnce(ledger, log);
  const tokens = ledger.reduce((sum, row) => {
    if (row.status === "open" || row.usage === null) return sum;
    return sum + row.usage.inputTokens + row.usage.outputTokens;
  }, 0);
  expect(output.usage.inputTokens + output.usage.outputTokens).toBe(tokens);
  return log.length - questions.size;
}

interface Output {
  readonly ending: unknown;
  readonly artifacts: unknown;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

async function outputOf(program: Program): Promise<Output> {
  const { code, stdout, stderr } = await program.ended;
  expect(code, `stderr: ${stderr}`).toBe(0);
  return JSON.parse(stdout) as Output;
}
