import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../support/until.ts";

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: not even the file system's own journal is written. */
const shutdown = `import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))`;

/** An ext4 file system in a file whose power can be cut: writes that were not synced are lost. Needs the right to mount. */
export class PowerDisk {
  static readonly isPossible = PowerDisk.#probe();
  readonly path: string;
  readonly #image: string;

  constructor(folder: string) {
    this.path = join(folder, "mounted");
    this.#image = join(folder, "image");
    mkdirSync(this.path, { recursive: true });
    execFileSync("truncate", ["-s", "96M", this.#image]);
    execFileSync("mkfs.ext4", ["-q", "-F", this.#image]);
    this.#mount();
  }

  cutPower(): void {
    execFileSync("python3", ["-c", shutdown, this.path]);
  }

  /** Mounts it again, as a machine does that starts after a power cut. */
  async restore(): Promise<void> {
    await this.remove();
    this.#mount();
  }

  /**
   * A sandbox that another test starts at this moment has a copy of the mount for as long as it lives. Until that is gone
   * too, the file system stays shut down, and mounting its image would give the same one again.
   */
  async remove(): Promise<void> {
    execFileSync("umount", [this.path]);
    await until(
      "the file system is released",
      () => execFileSync("losetup", ["-j", this.#image]).length === 0,
    );
  }

  #mount(): void {
    execFileSync("mount", ["-o", "loop", this.#image, this.path]);
  }

  static #probe(): boolean {
    if (process.platform !== "linux" || process.geteuid?.() !== 0) return false;
    if (spawnSync("mkfs.ext4", ["-V"]).status !== 0) return false;
    const folder = mkdtempSync(join(tmpdir(), "maestro-power-"));
    try {
      const disk = new PowerDisk(folder);
      disk.cutPower();
      execFileSync("umount", [disk.path]);
      return true;
    } catch {
      return false;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
