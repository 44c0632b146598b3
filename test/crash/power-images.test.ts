import { basename, dirname } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { BrokenPromise } from "../campaign/campaign.ts";
import { chooseCuts, openImage, recordClerk } from "../campaign/images.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { type Operation, type Recording, withoutSync } from "./power-support/operation.ts";
import { canRecord } from "./power-support/recorder.ts";

const images = 20;
type Sync = Extract<Operation, { kind: "sync" }>;

describe.skipIf(!canRecord)("a disk after a power cut (needs strace)", () => {
  let recording: Recording;
  beforeAll(async () => {
    recording = await recordClerk("artifacts");
  });

  /** The faults that 20 images show. */
  async function faultsOf(recorded: Recording): Promise<string[]> {
    const random = seededRandom(7);
    const found: string[] = [];
    for (const cut of chooseCuts(recorded, images, random))
      await openImage(recorded, cut, "artifacts", random).catch((error: unknown) => {
        if (!(error instanceof BrokenPromise)) throw error;
        found.push(error.message);
      });
    return found;
  }

  it("has every acknowledged step, whichever unsynced writes it lost", async () => {
    expect(await faultsOf(recording)).toEqual([]);
  });

  /** A sync on which an acknowledgement depends: the file is not synced again before it. */
  function neededSync(isMeant: (path: string) => boolean): Sync {
    const { operations } = recording;
    const needed = operations.filter((each, index): each is Sync => {
      if (each.kind !== "sync" || !isMeant(each.path)) return false;
      const next = operations
        .slice(index + 1)
        .find((later) => later.kind === "acknowledge" || (later.kind === "sync" && later.file === each.file));
      return next?.kind === "acknowledge";
    });
    const middle = needed[Math.floor(needed.length / 2)];
    if (middle === undefined) throw new Error("no acknowledgement depends on such a sync");
    return middle;
  }

  it.each([
    ["of the write-ahead log", (path: string) => path.endsWith("-wal")],
    ["of an artifact", (path: string) => path.includes("/artifacts/") && basename(path).length > 2],
    ["of a folder with an artifact", (path: string) => basename(dirname(path)) === "artifacts"],
  ])("lacks an acknowledged step if one sync %s is left out, and the images show it", async (_, isMeant) => {
    const planted = withoutSync(recording, neededSync(isMeant));
    expect(await faultsOf(planted)).toContainEqual(expect.stringMatching(/^lost: /));
  });
});
