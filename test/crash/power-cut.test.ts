import { describe, expect, it } from "vitest";
import { cutPower } from "../campaign/power.ts";
import { PowerDisk } from "./damage-support/power-disk.ts";

describe("a power cut that loses everything that was not synced", () => {
  it.skipIf(!PowerDisk.isPossible).each([
    ["little", "nothing", 1],
    ["many rows", "rows", 2],
    ["large artifacts", "artifacts", 3],
  ] as const)(
    "loses no acknowledged step of a session that writes %s (needs root and mkfs.ext4)",
    async (_, filling, seed) => {
      expect(await cutPower(filling, seed)).toBeGreaterThan(0);
    },
  );
});
