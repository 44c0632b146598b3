import { lchown } from "node:fs/promises";
import { OpenFolder } from "./open-folder.ts";

const mostEntries = 1_000_000;

/** Gives everything in the folder to that user, except files with a second name elsewhere. */
export async function takeOver(directory: string, uid: number): Promise<void> {
  await using root = await OpenFolder.open(directory);
  await takeOverIn(root, uid);
}

async function takeOverIn(folder: OpenFolder, uid: number): Promise<void> {
  await folder.setOwner(uid, uid);
  for (const { name } of await folder.list(mostEntries)) {
    const status = await folder.statusOf(name);
    if (status.isDirectory()) {
      await using inner = await folder.folder(name);
      await takeOverIn(inner, uid);
    } else if (status.nlink === 1n) await lchown(folder.at(name), uid, uid);
  }
}
