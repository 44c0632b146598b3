import type { Advice } from "../domain/advice.ts";
import { MaestroError } from "../domain/errors.ts";

export interface Finding {
  readonly what: string;
  readonly state: "ok" | "warning" | "wrong";
  readonly found: string;
  readonly fix?: readonly Advice[];
  /** The highest exit code of all findings is the command's. */
  readonly exitCode?: number;
}

export function wrong(what: string, error: unknown): Finding {
  if (!MaestroError.is(error)) throw error;
  const { message, actions, exitCode } = error;
  return { what, state: "wrong", found: message, exitCode, ...(actions.length > 0 && { fix: actions }) };
}
