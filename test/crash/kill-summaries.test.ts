import { describe, expect, it } from "vitest";
import { protocols } from "../campaign/models.ts";
import { killAroundSummaries } from "../campaign/summaries.ts";

describe.concurrent("a conversation that is killed while and after its model summarizes it", () => {
  it.each(protocols)("over %s asks and pays for each recorded summary once", async (_, model) => {
    expect(await killAroundSummaries(model, 1)).toBe(4);
  });
});
