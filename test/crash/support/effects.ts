import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** Leaves a mark outside of Maestro, as an effect on the world would: one appended line a call. */
export function leaveMark(file: string, label: string): void {
  appendFileSync(file, `${label}\n`, { flag: "a" });
}

export function readMarks(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** The same step, or the same attempt, in every run of the same work, whatever its session's id is. */
export function markOf(persona: string, attempt: number, step?: string): string {
  return `${persona}, attempt ${attempt}${step === undefined ? "" : `: ${step}`}`;
}
