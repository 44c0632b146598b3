import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A real git repository in a folder of its own. */
export class TestRepository {
  readonly folder: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "maestro-repository-"));
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("config", "user.email", "person@example.org");
    this.git("config", "user.name", "A person");
  }

  git(...args: readonly string[]): string {
    return execFileSync("git", args, {
      cwd: this.folder,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    }).trimEnd();
  }

  path(name: string | Buffer): string | Buffer {
    return typeof name === "string"
      ? join(this.folder, name)
      : Buffer.concat([Buffer.from(`${this.folder}/`), name]);
  }

  write(name: string, content: string | Uint8Array, mode = 0o644): this {
    mkdirSync(join(this.folder, dirname(name)), { recursive: true });
    writeFileSync(this.path(name), content);
    chmodSync(this.path(name), mode);
    return this;
  }

  link(name: string, target: string): this {
    symlinkSync(target, this.path(name));
    return this;
  }

  /** Everything, also what .gitignore names. */
  commit(message = "start"): string {
    this.git("add", "--all", "--force");
    this.git("commit", "--quiet", "--message", message);
    return this.git("rev-parse", "HEAD");
  }
}
