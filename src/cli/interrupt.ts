import type { Maestro } from "../maestro.ts";
import { exitCodes } from "./exit-code.ts";

/** Ten seconds are promised, and the process needs some of them to end. */
const hardStopMs = 9_000;

/** The first Ctrl-C lets the step under way finish and pauses the session; the second one stops at once. */
export function pauseOnInterrupt(
  maestro: Maestro,
  session: string,
  resumeCommand: string,
  say: (text: string) => void,
): { readonly interrupted: () => boolean; readonly leave: () => void } {
  let interrupted = false;
  const stop = (): void => {
    if (interrupted) process.exit(exitCodes.interrupted);
    interrupted = true;
    say("Stopping after the step under way; once more stops at once.");
    setTimeout(() => {
      say(`Stopped in the middle of a step. Go on with: ${resumeCommand}`);
      process.exit(exitCodes.interrupted);
    }, hardStopMs).unref();
    maestro
      .pause(session)
      .then(() => maestro.close())
      .catch((error: unknown) => say(String(error)));
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    interrupted: () => interrupted,
    leave: () => {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
