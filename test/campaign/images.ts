import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { sha256 } from "../../src/domain/canonical.ts";
import { type ClerkOptions, explain, type Filling, work } from "../crash/damage-support/clerk-work.ts";
import { counts, linesOf } from "../crash/damage-support/run-clerk.ts";
import { type Remains, remains, writeImage } from "../crash/power-support/image.ts";
import type { Recording } from "../crash/power-support/operation.ts";
import { canRecord, record } from "../crash/power-support/recorder.ts";
import { asOnlooker } from "../crash/support/onlooker.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { clerkIn } from "./disk.ts";
import { inFolder } from "./in-folder.ts";

const clerk = fileURLToPath(new URL("../crash/damage-support/clerk.ts", import.meta.url));
const fillings = ["nothing", "rows", "artifacts"] as const;
const stepsPerPhase = 4;

/** Records a whole session of the built package, from its first open to its close. */
export function recordClerk(filling: Filling): Promise<Recording> {
  return inFolder((folder) => {
    const disk = join(folder, "disk");
    const options = optionsFor(filling, join(disk, "state"), folder);
    const place = { disk, acknowledged: options.acknowledged, trace: join(folder, "trace") };
    const recording = record([process.execPath, clerk, JSON.stringify(options)], place);
    const whole = join(folder, "whole");
    writeImage(recording, recording.operations.length, "all", Math.random, whole);
    expect(contentsOf(whole), "the recording leads to the files that the run left").toEqual(contentsOf(disk));
    return Promise.resolve(recording);
  });
}

/** The hash of each file below the folder. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Object.fromEntries(
    files
      .map((file) => join(file.parentPath, file.name))
      .map((path) => [relative(folder, path), sha256(readFileSync(path))]),
  );
}

const optionsFor = (filling: Filling, stateDir: string, outside: string): ClerkOptions => ({
  ...clerkIn(stateDir, outside, { steps: stepsPerPhase, filling }),
  tellsSession: true,
});

interface Cut {
  /** Right after so many operations. */
  readonly at: number;
  readonly remains: Remains;
}

/**
 * A cut right after each acknowledgement in turn, where all that was not synced is lost: it must be on the disk then. The
 * other half at random moments, with random remains.
 */
export function chooseCuts({ operations }: Recording, images: number, random: () => number): Cut[] {
  const acknowledged = [...operations.entries()].filter(([, { kind }]) => kind === "acknowledge");
  const first = Math.floor(random() * acknowledged.length);
  return Array.from({ length: images }, (_, image) => {
    const [index = 0] = acknowledged[(first + image / 2) % acknowledged.length] ?? [];
    if (image % 2 === 0) return { at: index + 1, remains: "nothing" };
    const at = Math.floor(random() * (operations.length + 1));
    return { at, remains: remains[Math.floor(random() * remains.length)] ?? "some" };
  });
}

/** Opens the disk as a power cut may have left it: nothing acknowledged is lost, and nothing of it runs again. */
export function openImage(
  recording: Recording,
  { at, remains: left }: Cut,
  filling: Filling,
  random: () => number,
): Promise<void> {
  return inFolder(async (folder) => {
    const options = optionsFor(filling, join(folder, "disk", "state"), folder);
    writeImage(recording, at, left, random, join(folder, "disk"));
    const acknowledged = recording.operations
      .slice(0, at)
      .flatMap((operation) => (operation.kind === "acknowledge" ? [operation.label] : []));
    const what = `cut after ${at} operations, ${left} of the unsynced ones kept`;
    const end = await work(options).catch(explain);
    orElse("lost", () => expect(end, what).toEqual({ status: "completed", results: 2 }));
    const ran = linesOf(options.effects);
    orElse("lost", () => {
      const again = acknowledged.filter((label) => ran.includes(label));
      expect(again, `${what}: acknowledged, and ran again`).toEqual([]);
      const [session] = acknowledged;
      const [found] = linesOf(options.acknowledged);
      expect(session ?? found, `${what}: the acknowledged session`).toBe(found);
    });
    orElse("repeated", () =>
      expect(
        [...counts(ran)].filter(([, times]) => times > 1),
        what,
      ).toEqual([]),
    );
    const checkpoints = await asOnlooker(options, (maestro) => maestro.checkpoints("pages"));
    orElse("lost", () =>
      expect(
        checkpoints.filter(({ valid }) => !valid),
        what,
      ).toEqual([]),
    );
  });
}

/** As many as one run of the campaign is to replay at least. */
const imagesPerTrial = 200;
const recordings = new Map<Filling, Promise<Recording>>();

async function openImages(filling: Filling, seed: number): Promise<number> {
  const recording = recordings.get(filling) ?? recordClerk(filling);
  recordings.set(filling, recording);
  const random = seededRandom(seed);
  for (const cut of chooseCuts(await recording, imagesPerTrial, random))
    await openImage(await recording, cut, filling, random);
  return imagesPerTrial;
}

export const imageTrials: readonly Trial[] = (canRecord ? fillings : []).map((filling) => ({
  title: `images of a session that writes ${filling === "nothing" ? "little" : filling}`,
  run: (seed) => openImages(filling, seed),
}));
