import { describe, expect, it } from "vitest";
import { protocols } from "../campaign/models.ts";
import { killAroundSummaries } from "../campaign/summaries.ts";

describe.concurrent("a conversation that is killed while and after its model summarizes it", () => {
  it.each(protocols)("over %s asks and pays for each recorded summary once", async (_, model) => {
    // Four, unless a kill comes so late that it leaves no summary for the next.
    expect(await killAroundSummaries(model, 1)).toBeGreaterThanOrEqual(2);
  });
});
