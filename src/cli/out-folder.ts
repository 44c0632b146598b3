import { access, constants, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { InputInvalid } from "../domain/errors.ts";
import type { OutFolder } from "../look.ts";

/** A folder that was moved is not made again where it was: nobody would look there. */
export async function isGone({ folder, used }: OutFolder): Promise<boolean> {
  return used && (await stat(folder).catch(() => undefined)) === undefined;
}

/** Whether files could go there, asked before anything is paid for. */
export async function checkOut(directory: string | undefined): Promise<void> {
  if (directory === undefined) return;
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found === undefined && folder !== dirname(folder)) continue;
    if (!found?.isDirectory()) throw refused(directory, `${folder} is not a folder`);
    await access(folder, constants.W_OK).catch(() => {
      throw refused(directory, `${folder} cannot be written`);
    });
    return;
  }
}

function refused(directory: string, why: string): InputInvalid {
  return new InputInvalid(`The files cannot go to ${directory}: ${why}.`, {
    advice: "Name another folder with --out; it is made if it is not there.",
  });
}
