import {
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { newId } from "../../domain/ids.ts";
import { isJsonObject, type Json, parseJson } from "../../domain/json.ts";
import { reach } from "../../store/fault-points.ts";
import { measureFolder } from "../folder-size.ts";
import { removeFolder } from "../remove-folder.ts";
import { isLeft, ownerMark } from "../scratch.ts";
import type { LayerPart } from "./layer.ts";

/** The folders that a setup made, to move into the layer. */
export interface MadePart {
  readonly folder: string;
  readonly place: string;
}

interface KeptPart {
  readonly place: string;
  readonly entries: number;
  readonly bytes: number;
}

/** One prepared layer, for lists. */
export interface KnownLayer {
  readonly key: string;
  readonly usedAt: number;
  readonly sessions: readonly string[];
}

const waitMs = 250;
const manifestName = "layer.json";
const keyForm = /^[0-9a-f]{64}$/;

/**
 * Dependencies that setups prepared, one folder for each key, shared by all sessions of a state directory. A layer
 * is filled under another name and renamed when complete, so it is never partial.
 */
export class LayerStore {
  readonly #folder: string;
  /** Layers already verified by this process. */
  readonly #known = new Map<string, readonly LayerPart[]>();
  readonly #making = new Map<string, Promise<readonly LayerPart[]>>();

  constructor(stateDirectory: string) {
    this.#folder = join(stateDirectory, "layers");
  }

  /** The layer, marked as used by the session. Undefined if it is missing or damaged. */
  async use(key: string, session: string): Promise<readonly LayerPart[] | undefined> {
    const parts = this.#known.get(key) ?? (await this.#verified(key));
    if (parts === undefined) return undefined;
    try {
      await writeFile(join(this.#at(key), "sessions", session), "", { mode: 0o600 });
      const now = new Date();
      await utimes(join(this.#at(key), manifestName), now, now);
    } catch (error) {
      // Another process pruned it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      this.#known.delete(key);
      return undefined;
    }
    this.#known.set(key, parts);
    return parts;
  }

  /**
   * Returns the layer. If it is missing, `make` prepares it once, even if several sessions and processes ask for
   * the key at the same time. `isMade` says whether it ran for this caller.
   */
  async prepare(
    key: string,
    session: string,
    signal: AbortSignal,
    make: (keep: (parts: readonly MadePart[]) => Promise<void>) => Promise<void>,
  ): Promise<{ readonly parts: readonly LayerPart[]; readonly isMade: boolean }> {
    const ready = await this.use(key, session);
    if (ready !== undefined) return { parts: ready, isMade: false };
    const inProcess = this.#making.get(key);
    if (inProcess !== undefined) {
      await inProcess.catch(() => undefined);
      return this.prepare(key, session, signal, make);
    }
    let isMade = false;
    const making = this.#underLock(key, signal, async () => {
      const made = await this.use(key, session);
      if (made !== undefined) return made;
      await make((parts) => this.#publish(key, parts));
      isMade = true;
      const parts = await this.use(key, session);
      if (parts === undefined) throw new Error(`the layer ${key} was not made, or it was removed at once`);
      return parts;
    });
    this.#making.set(key, making);
    try {
      return { parts: await making, isMade };
    } finally {
      this.#making.delete(key);
    }
  }

  /** Complete layers, most recently used first. */
  async list(): Promise<readonly KnownLayer[]> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => keyForm.test(name));
    const layers: KnownLayer[] = [];
    for (const key of names) {
      const status = await stat(join(this.#at(key), manifestName)).catch(() => undefined);
      const sessions = await readdir(join(this.#at(key), "sessions")).catch(() => []);
      layers.push({ key, usedAt: status?.mtimeMs ?? 0, sessions });
    }
    return layers.toSorted((one, other) => other.usedAt - one.usedAt);
  }

  /** The size and last use of each layer. */
  async measure(): Promise<readonly { readonly usedAt: number; readonly bytes: number }[]> {
    const layers = await this.list();
    return Promise.all(
      layers.map(async ({ key, usedAt }) => ({ usedAt, bytes: (await measureFolder(this.#at(key))).bytes })),
    );
  }

  /** Removes the layer, unless a session for which `isLive` is true has started to use it. */
  async remove(key: string, isLive: (session: string) => Promise<boolean>): Promise<boolean> {
    return this.#underLock(key, AbortSignal.timeout(10_000), async () => {
      for (const session of await readdir(join(this.#at(key), "sessions")).catch(() => []))
        if (await isLive(session)) return false;
      const aside = join(this.#folder, `new-${await ownerMark()}${newId()}`);
      await rename(this.#at(key), aside).catch(unlessGone);
      this.#known.delete(key);
      await removeFolder(aside);
      return true;
    });
  }

  /** Removes incomplete folders of killed processes. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => []))
      if (name.startsWith("new-") && (await isLeft(name.slice(4), join(this.#folder, name))))
        await (name.endsWith(".lock")
          ? unlink(join(this.#folder, name))
          : removeFolder(join(this.#folder, name)));
  }

  async #publish(key: string, made: readonly MadePart[]): Promise<void> {
    const folder = join(this.#folder, `new-${await ownerMark()}${newId()}`);
    try {
      await mkdir(join(folder, "sessions"), { recursive: true, mode: 0o700 });
      const parts: KeptPart[] = [];
      for (const [number, part] of made.entries()) {
        const target = join(folder, String(number));
        await rename(part.folder, target);
        parts.push({ place: part.place, ...(await measureFolder(target)) });
      }
      await writeFile(join(folder, manifestName), JSON.stringify({ key, parts }), { mode: 0o600 });
      reach?.("layer:before-rename");
      // A damaged layer may be in its place.
      await removeFolder(this.#at(key));
      await rename(folder, this.#at(key));
      reach?.("layer:after-rename");
    } catch (error) {
      await removeFolder(folder);
      throw error;
    }
  }

  /** Counts entries and bytes. A layer that a power cut or a person changed is made again. */
  async #verified(key: string): Promise<readonly LayerPart[] | undefined> {
    const text = await readFile(join(this.#at(key), manifestName), "utf8").catch(() => undefined);
    const kept = text === undefined ? undefined : readManifest(text, key);
    if (kept === undefined) return undefined;
    const parts: LayerPart[] = [];
    for (const [number, { place, entries, bytes }] of kept.entries()) {
      const source = join(this.#at(key), String(number));
      const found = await measureFolder(source).catch(() => undefined);
      if (found?.entries !== entries || found.bytes !== bytes) return undefined;
      parts.push({ source, place });
    }
    return parts;
  }

  /**
   * Keeps other processes from doing the same work. Correctness does not depend on it, because a layer is published
   * whole, so a dead process's lock is simply taken over.
   */
  async #underLock<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const lock = join(this.#folder, `${key}.lock`);
    const mine = join(this.#folder, `new-${await ownerMark()}${newId()}.lock`);
    const content = `${await ownerMark()}${newId()}`;
    await writeFile(mine, content, { mode: 0o600 });
    try {
      while (!(await took(mine, lock))) {
        const owner = await readFile(lock, "utf8").catch(() => undefined);
        if (owner !== undefined && (await isLeft(owner, lock))) await unlink(lock).catch(unlessGone);
        else await delay(waitMs, undefined, { signal });
      }
    } finally {
      await unlink(mine).catch(unlessGone);
    }
    try {
      return await work();
    } finally {
      if ((await readFile(lock, "utf8").catch(() => "")) === content) await rm(lock, { force: true });
    }
  }

  #at(key: string): string {
    return join(this.#folder, key);
  }
}

/** A hard link appears with its content, or not at all. */
async function took(file: string, lock: string): Promise<boolean> {
  try {
    await link(file, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function readManifest(text: string, key: string): readonly KeptPart[] | undefined {
  let manifest: Json;
  try {
    manifest = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(manifest) || manifest["key"] !== key || !Array.isArray(manifest["parts"]))
    return undefined;
  return manifest["parts"];
}

function unlessGone(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
