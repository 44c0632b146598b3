import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { constants } from "node:fs";
import { link, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StateUnavailable } from "../../domain/errors.ts";

export const tokenFile = "api-token";
const tokenForm = /^[\w.~+/=-]{8,512}$/;
const mostBytes = 1_024;

/** Reads the token of the state directory. The first start creates it, readable by its owner only. */
export async function loadToken(stateDirectory: string): Promise<string> {
  const path = join(stateDirectory, tokenFile);
  const found = await readToken(path);
  if (found !== undefined) return found;
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString("base64url")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    // A hard link is atomic: if two servers start together, the first token stays.
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(temporary);
  }
  const made = await readToken(path);
  if (made === undefined) throw unusable(path, "it vanished while it was made");
  return made;
}

/** Undefined before the first start. */
export async function readToken(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw unusable(path, code === "ELOOP" ? "it is a symbolic link" : `it cannot be read (${code})`);
  }
  try {
    const { mode, size, uid } = await file.stat();
    if ((mode & 0o077) !== 0) throw unusable(path, "others may read it");
    if (process.getuid !== undefined && uid !== process.getuid() && process.getuid() !== 0)
      throw unusable(path, "it belongs to another user");
    if (size > mostBytes) throw unusable(path, "it is too long");
    const token = (await file.readFile("utf8")).trim();
    if (!tokenForm.test(token)) throw unusable(path, "it does not hold a token");
    return token;
  } finally {
    await file.close();
  }
}

function unusable(path: string, why: string): StateUnavailable {
  return new StateUnavailable(`The token in ${path} is not used: ${why}.`, {
    details: { path },
    advice: "Remove the file (the next start makes a new one), or set its mode to 600.",
  });
}

export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer ([^\s]{1,1024})$/i.exec(authorization ?? "")?.[1];

/** Compares hashes, so that timing reveals nothing about the token or its length. */
export class TokenCheck {
  readonly #hash: Buffer;

  constructor(token: string) {
    this.#hash = sha256(token);
  }

  accepts(authorization: string | undefined): boolean {
    const given = bearerOf(authorization);
    // Always compare, so that all answers take equally long.
    const same = timingSafeEqual(sha256(given ?? ""), this.#hash);
    return given !== undefined && same;
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
