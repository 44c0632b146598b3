import { inspect } from "node:util";
import { redact } from "../domain/redact.ts";
import { exitNow } from "./early-exit.ts";
import { exitCodes } from "./exit-code.ts";
import { say } from "./output.ts";

/** An unhandled error fails the attempt whose code raised it. Any other error is `unclaimed`. */
export async function claimStrayErrors(unclaimed: (error: unknown) => void): Promise<void> {
  const { claimStrayError } = await import("../index.ts");
  const hear = (error: unknown): void => {
    if (!claimStrayError(error)) unclaimed(error);
  };
  process.on("unhandledRejection", hear);
  process.on("uncaughtException", hear);
}

/** Ends the process as Node would. The session resumes from its recorded steps. */
export function endUnclaimed(error: unknown): void {
  say(shown(error), "error");
  exitNow(exitCodes.bug);
}

/**
 * One stray error must not stop all sessions of a server. Every fact is committed in one transaction, so the error
 * leaves no state half written.
 */
export function reportUnclaimed(error: unknown): void {
  say(`Unexpected error, which belongs to no session. The server continues. ${shown(error)}`, "error");
}

const shown = (error: unknown): string => redact(inspect(error));
