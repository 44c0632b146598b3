import { describe, expect, it } from "vitest";
import { faultPoints } from "../../src/testing/index.ts";
import { killAt, reached } from "../campaign/points.ts";

describe("a process is killed at a named fault point, and the next one ends as if nothing had happened", () => {
  for (const { point, scenario } of reached) {
    const { hits, story, team } = scenario;
    it.each(hits)(
      `${point}, team ${story?.name ?? team}, reached %i times: ${faultPoints[point]}`,
      async (hit) => {
        expect(await killAt(point, scenario, hit)).toBe("killed");
      },
    );
  }
});
