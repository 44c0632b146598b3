import { expect } from "vitest";
import { ModelPlace } from "../crash/support/model-place.ts";
import { readerAnswers, readerReply } from "../crash/support/reader-replies.ts";
import { blocksOf, PromptCache } from "../support/prompt-cache.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { killUntilDone, outputOf, protocols } from "./models.ts";

/** Limit on the tokens written to the provider's cache, as a multiple of an undisturbed conversation. */
export const mostWritten = 1.05;

interface Conversation {
  /** Without those that were repeated. */
  readonly requests: readonly string[];
  /** Bytes that the provider wrote into its cache, and those that it found there. */
  readonly written: number;
  readonly read: number;
}

const undisturbed = new Map<string, Promise<Conversation>>();

export const cacheTrials: readonly Trial[] = protocols.map(([name, model]) => ({
  title: `prompt cache, ${name}`,
  run: async (seed) => (await killAndMeasure(model, seed)).kills,
}));

interface Measured {
  readonly kills: number;
  readonly atWork: number;
  /** Written into the cache, over the same of an undisturbed conversation. */
  readonly ratio: number;
}

/** Kills the drivers of a long conversation: its requests stay the same, so the provider's cache is not written again. */
export async function killAndMeasure(model: string, seed: number): Promise<Measured> {
  if (!undisturbed.has(model)) undisturbed.set(model, runUndisturbed(model));
  const expected = await (undisturbed.get(model) as Promise<Conversation>);
  const place = await openPlace(model);
  try {
    const { output, kills, atWork } = await killUntilDone(place, seededRandom(seed));
    expect(output.ending).toMatchObject({ status: "completed" });
    const killed = conversationOf(place);
    orElse("lost", () => expect(killed.requests, "the same requests").toEqual(expected.requests));
    const ratio = killed.written / expected.written;
    orElse("repeated", () => expect(ratio, "cache written again").toBeLessThanOrEqual(mostWritten));
    return { kills, atWork, ratio };
  } catch (cause) {
    throw new Error(`${model}, seed ${seed}`, { cause });
  } finally {
    await place.remove();
  }
}

async function runUndisturbed(model: string): Promise<Conversation> {
  const place = await openPlace(model);
  try {
    const { ending } = await outputOf(place.drive());
    expect(ending).toMatchObject({ status: "completed" });
    const { requests } = place.models.server;
    expect(requests).toHaveLength(readerAnswers);
    for (const [index, { body }] of requests.entries()) {
      const before = blocksOf(requests[index - 1]?.body ?? {});
      expect(blocksOf(body).slice(0, before.length), `request ${index} continues the one before`).toEqual(
        before,
      );
    }
    const whole = conversationOf(place);
    // Else nothing of a prefix is found, and the ratio says nothing.
    expect(whole.read).toBeGreaterThan(10 * whole.written);
    return whole;
  } finally {
    await place.remove();
  }
}

const openPlace = (model: string): Promise<ModelPlace> =>
  ModelPlace.open(model, {
    team: "reader-team.yaml",
    reply: ({ answersBefore }) => readerReply(answersBefore),
  });

function conversationOf({ models }: ModelPlace): Conversation {
  const cache = new PromptCache();
  const { requests } = models.server;
  const cached = requests.map((request) => cache.take(request));
  return {
    requests: [...new Set(requests.map(({ path, text }) => `${path}\n${text}`))],
    written: cached.reduce((sum, { written }) => sum + written, 0),
    read: cached.reduce((sum, { read }) => sum + read, 0),
  };
}
