import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import { expectPaidOnce } from "../crash/support/billing.ts";
import { ModelPlace } from "../crash/support/model-place.ts";
import { asksForSummary, summarizingReply } from "../crash/support/reader-replies.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { outputOf, protocols } from "./models.ts";

/** When the driver is killed, as seen from the provider. */
const moments = ["asked for a summary", "behind a summary"] as const;
type Moment = (typeof moments)[number];

const undisturbed = new Map<string, Promise<ReadonlySet<string>>>();

export const summaryTrials: readonly Trial[] = protocols.map(([name, model]) => ({
  title: `summaries, ${name}`,
  run: (seed) => killAroundSummaries(model, seed),
}));

/** Kills the drivers around each summary of a conversation: a recorded summary is neither asked for nor paid again. */
export async function killAroundSummaries(model: string, seed: number): Promise<number> {
  if (!undisturbed.has(model)) undisturbed.set(model, runUndisturbed(model));
  const questions = await (undisturbed.get(model) as Promise<ReadonlySet<string>>);
  const random = seededRandom(seed);
  const place = await openPlace(model);
  try {
    let kills = 0;
    for (const moment of [...moments, ...moments])
      if (await killAt(place, moment, Math.floor(random() * 20))) kills += 1;
    expect(kills, "kills around a summary").toBeGreaterThan(0);
    const { ending } = await outputOf(place.drive());
    expect(ending).toMatchObject({ status: "completed" });
    const { log } = place.models;
    orElse("lost", () =>
      expect(new Set(log.map(({ hash }) => hash)), "the same requests").toEqual(questions),
    );
    const ledger = await place.ledger();
    orElse("repeated", () => expectPaidOnce(ledger, log));
    return kills;
  } catch (cause) {
    throw new Error(`${model}, seed ${seed}`, { cause });
  } finally {
    await place.remove();
  }
}

/** False: an earlier kill came so late, on a busy machine, that no such moment was left. */
async function killAt(place: ModelPlace, moment: Moment, thenMs: number): Promise<boolean> {
  const { models } = place;
  const program = place.drive();
  const isMoment = (): boolean => {
    const [before, now] = models.log.slice(-2).map(({ text }) => asksForSummary(text));
    return moment === "asked for a summary" ? now === true : before === true && now === false;
  };
  const come = new Promise<void>((resolve) => {
    models.onAnswer = () => isMoment() && resolve();
  });
  await Promise.race([come, program.ended]);
  models.onAnswer = undefined;
  await pass(thenMs);
  program.signal("SIGKILL");
  const { code, signal, stderr } = await program.ended;
  if (signal === "SIGKILL") return true;
  expect(code, `it ended before it was ${moment}: ${stderr}`).toBe(0);
  return false;
}

async function runUndisturbed(model: string): Promise<ReadonlySet<string>> {
  const place = await openPlace(model);
  try {
    const { ending } = await outputOf(place.drive());
    expect(ending).toMatchObject({ status: "completed" });
    const summaries = place.models.log.filter(({ text }) => asksForSummary(text));
    expect(summaries.length, "summaries of the whole conversation").toBeGreaterThanOrEqual(2);
    expectPaidOnce(await place.ledger(), place.models.log);
    return new Set(place.models.log.map(({ hash }) => hash));
  } finally {
    await place.remove();
  }
}

const openPlace = (model: string): Promise<ModelPlace> =>
  ModelPlace.open(model, {
    team: "small-window-team.yaml",
    reply: ({ text }) => summarizingReply(text),
    usage: (number, bytes) => ({
      input: Math.ceil(bytes / 4),
      cached: 0,
      cacheWrite: 0,
      output: 40 + number,
      reasoning: 0,
    }),
  });
