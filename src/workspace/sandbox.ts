import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram, searchPath } from "./find-program.ts";
import { start } from "./launch.ts";
import { commandLimits } from "./process-limits.ts";
import { removeFolder } from "./remove-folder.ts";
import type { Bubblewrap, Sandbox, SandboxIdentity } from "./sandbox-kind.ts";
import { launchInSandbox } from "./sandbox-launch.ts";

export type { Bubblewrap, NoSandbox, Sandbox, SandboxIdentity, SandboxRule } from "./sandbox-kind.ts";

const trialMs = 20_000;
const againMs = 60_000;
let known: Promise<Sandbox> | undefined;

/** The sandbox of this machine, tested once. A test that ran out of time is repeated later. */
export function describeSandbox(detect: () => Promise<Sandbox> = detectSandbox): Promise<Sandbox> {
  known ??= detect().then((found) => {
    if (found.kind === "none" && found.isUncertain) forgetLater();
    return found;
  });
  return known;
}

/** One busy moment must not disable a server's sandbox until its restart. */
function forgetLater(): void {
  setTimeout(() => {
    known = undefined;
  }, againMs).unref();
}

export async function detectSandbox(folders: readonly string[] = searchPath()): Promise<Sandbox> {
  if (process.platform !== "linux")
    return { kind: "none", reason: "bubblewrap exists on Linux only.", lacks: "platform" };
  const program = await findProgram("bwrap", folders);
  if (program === undefined)
    return {
      kind: "none",
      reason: "bwrap is not installed; it is in the package bubblewrap.",
      lacks: "program",
    };
  const version = await versionOf(program);
  if (version === undefined)
    return {
      kind: "none",
      reason: `${program} does not say its version.`,
      lacks: "program",
      isUncertain: true,
    };
  const prlimit = await findProgram("prlimit", folders);
  const setpriv = await findProgram("setpriv", folders);
  const problems = new Set<string>();
  let isUncertain = false;
  for (const identity of identities(setpriv !== undefined)) {
    const sandbox = { kind: "bubblewrap", version, program, identity, prlimit, setpriv } as const;
    const problem = await tryOut(sandbox);
    if (problem === undefined) return sandbox;
    problems.add(problem.reason);
    isUncertain ||= problem.isUncertain;
  }
  const reason = `${program} cannot make a sandbox here: ${[...problems].join("; ")}`;
  return { kind: "none", reason, lacks: "rights", ...(isUncertain && { isUncertain }) };
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: trialMs });
    return /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

/** The best first. */
function identities(hasSetpriv: boolean): SandboxIdentity[] {
  const isRoot = process.geteuid?.() === 0;
  return [...(isRoot && hasSetpriv ? (["other-user"] as const) : []), "user-namespace", "same-user"];
}

interface Problem {
  readonly reason: string;
  readonly isUncertain: boolean;
}

/** Runs Node itself with everything that a real command gets, because parts may work alone and still fail together. */
async function tryOut(sandbox: Bubblewrap): Promise<Problem | undefined> {
  const directory = await mkdtemp(join(tmpdir(), "maestro-sandbox-"));
  try {
    const launch = await launchInSandbox(sandbox, {
      argv: [process.execPath, "--version"],
      directory,
      env: {},
      writable: "workspace",
      network: false,
      places: {},
      limits: commandLimits,
      layers: { parts: [], folder: "" },
    });
    if (typeof launch === "string") return { reason: launch, isUncertain: false };
    const child = start(launch, undefined);
    const timer = setTimeout(() => child.kill("SIGKILL"), trialMs);
    let said = "";
    child.stderr?.on("data", (chunk) => (said = (said + String(chunk)).slice(-2000)));
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(timer);
    if (code === 0) return undefined;
    if (code === null) return { reason: `it did not end within ${trialMs} ms`, isUncertain: true };
    return { reason: said.trim().split("\n").at(-1) || `it ended with ${code}`, isUncertain: false };
  } catch (error) {
    return { reason: (error as Error).message, isUncertain: true };
  } finally {
    await removeFolder(directory);
  }
}
