import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { median } from "./statistics.ts";

const record = Buffer.alloc(1024, "x");

/** How often per second the disk appends 1 KiB and syncs it. A session alone cannot record steps faster. */
export class DiskLimit {
  readonly #path: string;
  readonly #file: number;

  constructor(directory: string) {
    this.#path = join(directory, `limit-${process.pid}`);
    this.#file = openSync(this.#path, "w");
  }

  /** Blocks for about this long; returns appends per second. */
  measure(durationMs: number): number {
    const began = performance.now();
    let written = 0;
    do {
      writeSync(this.#file, record);
      fdatasyncSync(this.#file);
      written += 1;
    } while (performance.now() - began < durationMs);
    return (written / (performance.now() - began)) * 1_000;
  }

  close(): void {
    closeSync(this.#file);
    unlinkSync(this.#path);
  }
}

export interface Window<T> {
  readonly value: T;
  /** The mean of the limit right before and right after. */
  readonly limit: number;
}

export function medianLimit(windows: readonly Window<unknown>[]): number {
  return median(windows.map(({ limit }) => limit));
}

export async function onceWithLimit<T>(directory: string, measure: () => T | Promise<T>): Promise<Window<T>> {
  const limitMs = 300;
  const limit = new DiskLimit(directory);
  const before = limit.measure(limitMs);
  const value = await measure();
  const after = limit.measure(limitMs);
  limit.close();
  return { value, limit: (before + after) / 2 };
}

/** Runs `measure` several times between measurements of the limit, because the speed of a disk changes within seconds. */
export async function withLimit<T>(
  directory: string,
  { windows, limitMs }: { readonly windows: number; readonly limitMs: number },
  measure: () => Promise<T>,
): Promise<Window<T>[]> {
  const limit = new DiskLimit(directory);
  const done: Window<T>[] = [];
  let before = limit.measure(limitMs);
  for (let window = 0; window < windows; window += 1) {
    const value = await measure();
    const after = limit.measure(limitMs);
    done.push({ value, limit: (before + after) / 2 });
    before = after;
  }
  limit.close();
  return done;
}
