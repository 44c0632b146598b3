import type { Link } from "./error-chain.ts";
import { readOutput } from "./read-output.ts";
import type { Verdict } from "./verdict.ts";

/** The error of `execFile` and its kind, which carries what the command printed. */
export function readCommandError(link: Link): Verdict | undefined {
  const [stdout, stderr] = [textOf(link.read("stdout")), textOf(link.read("stderr"))];
  // Asynchronous calls name it `code`, synchronous ones `status`.
  const exitCode =
    [link.read("code"), link.read("status")].find((value) => typeof value === "number") ?? null;
  const ended = exitCode !== null || typeof link.read("signal") === "string";
  if (stdout === undefined || stderr === undefined || !ended) return undefined;
  if (link.read("killed") === true) return { category: "TIMEOUT", code: "killed" };
  const argv = link.read("argv");
  const command = Array.isArray(argv) ? argv.map(String) : undefined;
  return readOutput({ stdout, stderr, exitCode, ...(command && { command }) })[0];
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : Buffer.isBuffer(value) ? value.toString() : undefined;
