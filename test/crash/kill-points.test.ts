import { describe, expect, it } from "vitest";
import { faultPoints } from "../../src/testing/index.ts";
import { killAt, reached } from "../campaign/points.ts";

describe("a session whose process is killed at a named fault point ends like an undisturbed one", () => {
  for (const { point, scenario } of reached) {
    const { hits, story, team } = scenario;
    it.each(hits)(`${point}, hit %i, team ${story?.name ?? team}: ${faultPoints[point]}`, async (hit) => {
      expect(await killAt(point, scenario, hit)).toBe("killed");
    });
  }
});
