import type { Maestro } from "../maestro.ts";
import { exitCodes } from "./exit-code.ts";

/** Ten seconds are promised, and the process needs some of them to end. */
const hardStopMs = 9_000;

export interface Interrupt {
  readonly interrupted: () => boolean;
  /** It has come to its end: from here on Ctrl-C is nobody's business. */
  readonly leave: () => void;
  /** How to go on is on the screen. */
  readonly told: () => void;
}

/** The first Ctrl-C lets the step under way finish and pauses the session; the second one stops at once. */
export function pauseOnInterrupt(
  maestro: Maestro,
  session: string,
  resumeCommand: string,
  show: { readonly say: (text: string) => void; readonly stopping: () => void },
): Interrupt {
  let interrupted = false;
  let isTold = false;
  const stopNow = (what: string): void => {
    if (!isTold) {
      show.say(`${what} Nothing recorded is lost.`);
      show.say(`Go on with: ${resumeCommand}`);
    }
    process.exit(exitCodes.interrupted);
  };
  const stop = (): void => {
    if (interrupted) return stopNow("Stopped at once.");
    interrupted = true;
    show.say("Stopping: the step under way has some seconds to finish. Once more stops at once.");
    show.stopping();
    setTimeout(() => stopNow("Stopped in the middle of a step."), hardStopMs).unref();
    maestro
      .pause(session)
      .then(() => maestro.close())
      .catch((error: unknown) => show.say(String(error)));
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    interrupted: () => interrupted,
    leave: () => {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
    told: () => {
      isTold = true;
    },
  };
}
