import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../domain/clock.ts";
import type { ServerStatus } from "./schemas/server.ts";

/** Summing up a large state directory is slow, and the sum changes little within this time. */
const keptMs = 60_000;
/** After this many files the partial sum is used. */
const mostFiles = 200_000;

export class Disk {
  readonly #folder: string;
  readonly #clock: Clock;
  #stateBytes = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #counting: Promise<void> | undefined;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async read(): Promise<ServerStatus["disk"]> {
    const { bavail, blocks, bsize } = await statfs(this.#folder);
    if (this.#clock.now() - this.#countedAt >= keptMs) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined;
      });
      // Only the first request waits, and only briefly.
      if (this.#countedAt < 0) await this.#counting;
    }
    return { stateBytes: this.#stateBytes, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  }

  async #count(): Promise<void> {
    let bytes = 0;
    let files = 0;
    const folders = [this.#folder];
    for (let folder = folders.pop(); folder !== undefined && files < mostFiles; folder = folders.pop()) {
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else if (entry.isFile()) {
          files += 1;
          bytes += await stat(path).then(
            ({ size }) => size,
            () => 0,
          );
        }
      }
    }
    this.#stateBytes = bytes;
    this.#countedAt = this.#clock.now();
  }
}
