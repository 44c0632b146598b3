import { describe, expect, it } from "vitest";
import { killModels, protocols } from "../campaign/models.ts";

const seeds = [1, 2];

/** Two trials at once fill two cores; a busier machine would hit other moments. */
describe.concurrent("a team of models that is killed at random moments", () => {
  it.each(protocols)(
    "over %s never repeats or pays again for a recorded answer, and leaves the same files",
    async (_, model) => {
      let atWork = 0;
      for (const seed of seeds) atWork += (await killModels(model, seed)).atWork;
      expect(atWork, "killed after a question").toBeGreaterThan(seeds.length);
    },
  );
});
