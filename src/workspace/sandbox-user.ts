import { link, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../domain/ids.ts";

/** Systems reserve this range for temporary users, which have no account and no files. */
const first = 61_184;
const most = 4_335;

export const passingUser = (): number => first + Math.floor(Math.random() * most);

/**
 * The user that every command of this state directory becomes when Maestro is root. Chosen once and stored in the
 * directory, so that a launch can use files that an earlier one left in a home or a layer.
 */
export async function sandboxUser(stateDirectory: string): Promise<number> {
  const path = join(stateDirectory, "sandbox-user");
  const known = await read(path);
  if (known !== undefined) return known;
  const own = `${path}.${newId()}`;
  await writeFile(own, `${passingUser()}\n`, { mode: 0o600 });
  try {
    // The first process to create the link decides for all.
    await link(own, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await unlink(own);
  }
  return (await read(path)) ?? passingUser();
}

/** Never an existing user: a damaged file must not give a command access to a person's files. */
async function read(path: string): Promise<number | undefined> {
  const uid = Number(await readFile(path, "utf8").catch(() => ""));
  return Number.isInteger(uid) && uid >= first && uid < first + most ? uid : undefined;
}
