import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import type { Finished } from "./maestro.ts";

const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "maestro-packed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The package that npm would publish, unpacked beside its dependencies. */
export const packageFolder = unpack();
/** A link in a folder of the PATH, as npm makes it for a global installation. */
const onPath = join(folder, "on-path");
const entry = join(onPath, "maestro");
mkdirSync(onPath);
symlinkSync(join(packageFolder, "bin/maestro.cjs"), entry);

function unpack(): string {
  if (!existsSync(join(root, "dist/cli/main.js")))
    throw new Error("There is nothing to pack yet: run npm run build first.");
  // Without scripts: packing would build again while other tests use the build.
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
  });
  execFileSync("tar", ["-xzf", join(folder, packed.trim().split("\n").at(-1) ?? ""), "-C", folder]);
  symlinkSync(join(root, "node_modules"), join(folder, "package/node_modules"));
  return join(folder, "package");
}

export interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A new folder with its own state directory, without settings of the machine. */
export function place(more: Record<string, string> = {}): Place {
  const own = mkdtempSync(join(tmpdir(), "maestro-cli-"));
  const config = `${own}-config`;
  onTestFinished(() => {
    for (const path of [own, config]) rmSync(path, { recursive: true, force: true });
  });
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:MAESTRO_|NO_COLOR$|FORCE_COLOR$|CI$)|_API_KEY$/.test(name),
  );
  return {
    folder: own,
    env: {
      ...Object.fromEntries(kept),
      PATH: `${onPath}:${process.env["PATH"]}`,
      MAESTRO_STATE_DIR: join(own, "state"),
      XDG_CONFIG_HOME: config,
      TERM: "xterm-256color",
      ...more,
    },
  };
}

/** The published command, without a terminal. */
export function begin({ folder: cwd, env }: Place, args: readonly string[], input: string | Buffer = "") {
  const child = spawn(process.execPath, [entry, ...args], { cwd, env });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  // A command that reads no input may have ended before it is written.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  onTestFinished(() => {
    if (child.exitCode === null) child.kill("SIGKILL");
  });
  const finished = once(child, "close").then(
    ([code]): Finished => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, finished, output: () => stdout + stderr };
}

export function maestro(at: Place, ...args: readonly string[]): Promise<Finished> {
  return begin(at, args).finished;
}

/** The one JSON document a command prints. */
export async function json<T>(at: Place, ...args: readonly string[]): Promise<T> {
  const { stdout, stderr, code } = await maestro(at, ...args, "--json");
  if (stdout === "") throw new Error(`maestro ${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface Step {
  /** A pattern that must be on the screen or in its scrollback. */
  readonly when: string;
  readonly send?: string;
  readonly resize?: readonly [columns: number, rows: number];
}

export interface Seen {
  readonly code: number;
  /** With the scrollback. */
  readonly lines: readonly string[];
  readonly screen: readonly string[];
  /** The screen at each step. */
  readonly seen: readonly (readonly string[])[];
  /** How often a line was wider than the terminal. */
  readonly wrapped: number;
  readonly colored: boolean;
  readonly cursorHidden: boolean;
  readonly timedOut: boolean;
  readonly stepsLeft: number;
}

/** The published command in a pseudo-terminal, with its screen. */
export function inTerminal(
  at: Place,
  size: readonly [columns: number, rows: number],
  args: readonly string[],
  steps: readonly Step[] = [],
): Promise<Seen> {
  return show(at, size, [process.execPath, entry, ...args], steps);
}

/** A shell in a pseudo-terminal that runs until it exits. */
export function inShell(at: Place, argv: readonly string[]): Promise<Seen> {
  return show(at, [80, 24], argv, []);
}

async function show(
  { folder: cwd, env }: Place,
  [columns, rows]: readonly [number, number],
  argv: readonly string[],
  steps: readonly Step[],
): Promise<Seen> {
  const child = spawn("python3", [join(import.meta.dirname, "terminal.py")], {
    cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stdin.end(
    JSON.stringify({
      argv,
      columns,
      rows,
      env,
      timeoutS: 90,
      steps: steps.map(({ send = "", ...step }) => ({ send, ...step })),
    }),
  );
  await once(child, "close");
  return JSON.parse(stdout) as Seen;
}

export const lines = (text: string): string[] => text.trim().split("\n");

export const read = (at: Place, path: string): string => readFileSync(join(at.folder, path), "utf8");
