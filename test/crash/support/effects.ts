import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** An effect outside Maestro: appends one line per call. */
export function leaveMark(file: string, label: string): void {
  appendFileSync(file, `${label}\n`, { flag: "a" });
}

export function readMarks(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Names a step or an attempt independently of the session's id. */
export function markOf(persona: string, attempt: number, step?: string): string {
  return `${persona}, attempt ${attempt}${step === undefined ? "" : `: ${step}`}`;
}
