import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { idTime, newId } from "../domain/ids.ts";
import { removeFolder } from "./remove-folder.ts";

const form = /^\.maestro-out-([0-9a-z]{26})\.tmp$/;
const oldMs = 24 * 60 * 60 * 1000;

/** A folder to prepare files in, on the same disk as the folder they are for. */
export async function makeStage(parent: string, mode: number): Promise<string> {
  const stage = join(parent, `.maestro-out-${newId()}.tmp`);
  await mkdir(stage, { mode });
  return stage;
}

/** The stage is gone afterwards, unless the work has given it another name. */
export async function withStage<T>(stage: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await removeFolder(stage);
  }
}

/** What killed writers left. Only what is surely abandoned: another may be at work next to us. */
export async function removeOldStages(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const id = form.exec(name)?.[1];
    if (id === undefined || idTime(id) > Date.now() - oldMs) continue;
    await removeFolder(join(parent, name)).catch(() => undefined);
  }
}
