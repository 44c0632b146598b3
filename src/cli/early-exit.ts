import { advise, type Notify } from "../domain/advice.ts";
import { exitCodes } from "./exit-code.ts";

let isIntended = false;

/** Ends the process after printing the reason. */
export function exitNow(code: number): never {
  isIntended = true;
  process.exit(code);
}

/** Team code runs in this process and can end it. Without a report, the session would seem complete. */
export class EarlyExit {
  readonly #say: Notify;
  session: string | undefined;
  interrupted = (): boolean => false;

  constructor(say: Notify) {
    this.#say = say;
    process.on("exit", this.#report);
  }

  /** The result has been printed, or the error will be. */
  leave(): void {
    process.off("exit", this.#report);
  }

  readonly #report = (): void => {
    if (isIntended || this.session === undefined) return;
    process.exitCode = this.interrupted() ? exitCodes.interrupted : exitCodes.bug;
    this.#say(
      `Code of the team ended this process while session ${this.session} ran. No recorded step is lost.`,
      [advise("Resume with", "resume", this.session)],
    );
  };
}
