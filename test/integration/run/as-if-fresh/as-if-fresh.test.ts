import { expect, test } from "vitest";
import { seededRandom } from "../../../unit/domain/seeded-random.ts";
import { TeamPlace } from "../place.ts";
import { Story } from "./story.ts";

const [first, count] = [Number(process.env["TEST_SEED"] ?? 1), Number(process.env["TEST_STORIES"] ?? 10)];
const seeds = Array.from({ length: count }, (_, place) => first + place);

test.each(seeds)(
  "a session that is paused, changed, edited, forked, lost or moved ends like a fresh one (TEST_SEED=%i)",
  async (seed) => {
    const story = new Story(new TeamPlace(), seededRandom(seed));
    const outcome = await story.tell(5).catch((error: unknown) => ({ lived: error, fresh: undefined }));
    const told = story.told.join("\n");
    expect(outcome.lived, told).toEqual(outcome.fresh);
    expect(story.twice, told).toEqual([]);
  },
);
