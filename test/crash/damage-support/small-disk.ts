import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A small file system. Needs the right to mount. */
export class SmallDisk {
  static readonly isPossible = SmallDisk.#probe();
  readonly path = mkdtempSync(join(tmpdir(), "maestro-disk-"));

  constructor(size: string) {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", this.path]);
  }

  remount(options: string): void {
    execFileSync("mount", ["-o", `remount,${options}`, this.path]);
  }

  remove(): void {
    execFileSync("umount", [this.path]);
    rmSync(this.path, { recursive: true });
  }

  static #probe(): boolean {
    if (process.platform !== "linux" || process.geteuid?.() !== 0) return false;
    const path = mkdtempSync(join(tmpdir(), "maestro-disk-"));
    const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path]).status === 0;
    if (isMounted) execFileSync("umount", [path]);
    rmSync(path, { recursive: true });
    return isMounted;
  }
}
