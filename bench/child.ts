import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface ChildEnd<Report> {
  readonly report: Report;
  /** When the process was started, as Date.now(). */
  readonly spawnedAt: number;
}

/** Runs a program of bench/children in its own process and returns its report; `dies`: it must kill itself. */
export async function runChild<Report>(
  program: string,
  args: readonly (string | number)[],
  { dies = false } = {},
): Promise<ChildEnd<Report>> {
  const script = new URL(`./children/${program}`, import.meta.url).pathname;
  const spawnedAt = Date.now();
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const output = await text(child.stdout);
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  const asExpected = dies ? signal === "SIGKILL" : code === 0;
  if (!asExpected) throw new Error(`bench/children/${program} ended with ${signal ?? code}`);
  return { report: (output === "" ? undefined : JSON.parse(output)) as Report, spawnedAt };
}

/** In the child: its report. */
export function report(value: object): void {
  process.stdout.write(JSON.stringify(value));
}
