import type { Maestro } from "../api/open.ts";
import type { Advice, Notify } from "../domain/advice.ts";
import { exitNow } from "./early-exit.ts";
import { exitCodes } from "./exit-code.ts";

/** A stop is promised within ten seconds, and the process needs some of that time to exit. */
const hardStopMs = 9_000;

export interface Interrupt {
  readonly interrupted: () => boolean;
  /** The drive has ended: stop handling Ctrl-C. */
  readonly leave: () => void;
  /** The resume command has been printed. */
  readonly told: () => void;
}

/** The first Ctrl-C lets the current step finish and pauses the session; the second one exits now. */
export function pauseOnInterrupt(
  maestro: Maestro,
  session: string,
  resume: Advice,
  show: { readonly say: Notify; readonly stopping: () => void },
): Interrupt {
  let interrupted = false;
  let isTold = false;
  const stopNow = (what: string): void => {
    if (!isTold) {
      show.say(`${what} No recorded step is lost.`, [resume]);
    }
    exitNow(exitCodes.interrupted);
  };
  const stop = (): void => {
    if (interrupted) return stopNow("Stopped.");
    interrupted = true;
    show.say("Stopping: the current step has a few seconds to finish. Press Ctrl-C again to stop now.");
    show.stopping();
    setTimeout(() => stopNow("Stopped in the middle of a step."), hardStopMs).unref();
    maestro
      .pause(session, "interrupt")
      .then(() => maestro.close())
      .catch((error: unknown) => show.say(String(error)));
  };
  // First: a handler of the team may end the process.
  process.prependListener("SIGINT", stop);
  process.prependListener("SIGTERM", stop);
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
