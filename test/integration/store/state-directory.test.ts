import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { StateUnavailable } from "../../../src/domain/errors.ts";
import { open } from "../../../src/index.ts";
import { resolveStateDirectory } from "../../../src/store/state-directory.ts";

async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "maestro-state-"));
  onTestFinished(async () => await rm(path, { recursive: true }));
  return path;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o7777).toString(8);
}

async function refusal(promise: Promise<unknown>): Promise<StateUnavailable> {
  const error: unknown = await promise.then(
    () => new Error("the state directory was accepted"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof StateUnavailable)) throw error;
  return error;
}

describe("a directory that was asked for", () => {
  test("is created, with its parents, for this user alone, and nothing is left in it", async () => {
    const base = await temporaryDirectory();
    const explicit = join(base, "a/b/state");
    expect(await resolveStateDirectory({ explicit, env: {} })).toEqual({ path: explicit, notice: undefined });
    expect(await modeOf(explicit)).toBe("700");
    expect(await modeOf(join(base, "a"))).toBe("700");
    expect(await readdir(explicit)).toEqual([]);
  });

  test("is left alone when the configuration is refused: no database is opened and left open", async () => {
    const stateDir = await temporaryDirectory();
    const jira = { baseUrl: "https://jira.example.org", email: "a@example.org", apiToken: "t" };
    const opened = open({ stateDir, jira: { ...jira, projectKey: "no key" } });
    await expect(opened).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await readdir(stateDir)).toEqual([]);
  });

  test("is closed to others when it is empty or holds our state", async () => {
    const base = await temporaryDirectory();
    await chmod(base, 0o755);
    await resolveStateDirectory({ explicit: base, env: {} });
    expect(await modeOf(base)).toBe("700");
    await chmod(base, 0o775);
    await writeFile(join(base, "maestro.db"), "");
    await resolveStateDirectory({ explicit: base, env: {} });
    expect(await modeOf(base)).toBe("700");
  });

  test("keeps its mode when it holds other people's things, as /tmp does", async () => {
    const base = await temporaryDirectory();
    await writeFile(join(base, "somebody's file"), "");
    await chmod(base, 0o1777);
    await resolveStateDirectory({ explicit: base, env: {} });
    expect(await modeOf(base)).toBe("1777");
  });

  test("may be reached through a symbolic link", async () => {
    const base = await temporaryDirectory();
    await mkdir(join(base, "real"));
    await symlink(join(base, "real"), join(base, "link"));
    expect((await resolveStateDirectory({ explicit: join(base, "link"), env: {} })).path).toBe(
      join(base, "link"),
    );
  });

  test("is refused when a file stands in its place or in its path, never replaced", async () => {
    const base = await temporaryDirectory();
    const file = join(base, "file");
    const fallback = join(base, "fallback");
    await writeFile(file, "keep me");
    for (const explicit of [file, join(file, "state")]) {
      const error = await refusal(resolveStateDirectory({ explicit, env: { XDG_STATE_HOME: fallback } }));
      expect(error.message).toContain(`The state directory ${explicit} cannot be used: `);
      expect(error.message).toContain("not a directory");
    }
    expect(existsSync(fallback)).toBe(false);
  });
});

describe("without one", () => {
  test("the default is used, in silence", async () => {
    const defaultPath = join(await temporaryDirectory(), "state");
    expect(await resolveStateDirectory({ env: {}, defaultPath })).toEqual({
      path: defaultPath,
      notice: undefined,
    });
  });

  test.each([
    ["XDG_STATE_HOME", (base: string) => ({ XDG_STATE_HOME: join(base, "xdg"), HOME: base }), "xdg/maestro"],
    ["the home directory", (base: string) => ({ HOME: base }), ".local/state/maestro"],
    [
      "the home directory when XDG_STATE_HOME is relative",
      (base: string) => ({ XDG_STATE_HOME: "xdg", HOME: base }),
      ".local/state/maestro",
    ],
  ])(
    "a default that cannot be used is replaced by one under %s, with one line about it",
    async (_title, env, expected) => {
      const base = await temporaryDirectory();
      await writeFile(join(base, "file"), "");
      const defaultPath = join(base, "file/state");
      const { path, notice } = await resolveStateDirectory({ env: env(base), defaultPath });
      expect(path).toBe(join(base, expected));
      expect(await modeOf(path)).toBe("700");
      expect(notice).toBe(
        `State is kept in ${path}, because ${defaultPath} cannot be used (part of the path is not a directory); choose another directory with --state-dir or MAESTRO_STATE_DIR.`,
      );
    },
  );

  test("when neither can be used, both are named", async () => {
    const base = await temporaryDirectory();
    await writeFile(join(base, "file"), "");
    const env = { XDG_STATE_HOME: join(base, "file/xdg") };
    const { message } = await refusal(resolveStateDirectory({ env, defaultPath: join(base, "file/state") }));
    expect(message).toContain(join(base, "file/xdg/maestro"));
    expect(message).toContain(join(base, "file/state"));
  });
});

const isRoot = process.getuid?.() === 0;

test("a directory that this user may not write is refused: permission denied", async () => {
  const base = await temporaryDirectory();
  await chmod(base, 0o555);
  // Root is never denied, so it acts as nobody for a moment.
  if (isRoot) process.seteuid?.(65_534);
  const asked = resolveStateDirectory({ explicit: join(base, "state"), env: {} });
  const error = await refusal(asked).finally(() => {
    if (isRoot) process.seteuid?.(0);
  });
  expect(error.message).toContain("permission denied");
  expect(error.advice).toContain("--state-dir or MAESTRO_STATE_DIR");
});

function canMount(): boolean {
  if (!isRoot || process.platform !== "linux") return false;
  // In a mount namespace of its own, so that asking leaves nothing behind.
  return spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
}

describe.skipIf(!canMount())("on a real file system (needs root and mount)", () => {
  async function mounted(options: string): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "maestro-mount-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
    onTestFinished(async () => {
      execFileSync("umount", [path]);
      await rm(path, { recursive: true });
    });
    return path;
  }

  async function filled(): Promise<string> {
    const path = await mounted("size=64k");
    await expect(writeFile(join(path, "filler"), Buffer.alloc(1024 * 1024))).rejects.toThrow("ENOSPC");
    return path;
  }

  test("a read-only one is refused, also for root", async () => {
    const path = await mounted("size=64k");
    await mkdir(join(path, "state"));
    execFileSync("mount", ["-o", "remount,ro", path]);
    for (const name of ["state", "new"]) {
      const error = await refusal(resolveStateDirectory({ explicit: join(path, name), env: {} }));
      expect(error.message).toContain("read-only file system");
    }
    const XDG_STATE_HOME = await temporaryDirectory();
    const { notice } = await resolveStateDirectory({
      env: { XDG_STATE_HOME },
      defaultPath: join(path, "state"),
    });
    expect(notice).toContain("read-only file system");
  });

  test("a full one is refused and says so, and no probe is left behind", async () => {
    const path = await filled();
    const error = await refusal(resolveStateDirectory({ explicit: path, env: {} }));
    expect(error.message).toContain("no space left on the device");
    expect(error.advice).toContain("Free some space");
    expect(await readdir(path)).toEqual(["filler"]);
  });

  test("a full default is not exchanged for another, where its sessions would seem lost", async () => {
    const path = await filled();
    const XDG_STATE_HOME = await temporaryDirectory();
    const error = await refusal(resolveStateDirectory({ env: { XDG_STATE_HOME }, defaultPath: path }));
    expect(error.message).toContain("no space left on the device");
    expect(await readdir(XDG_STATE_HOME)).toEqual([]);
  });
});
