import { InputInvalid } from "../domain/errors.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import type { Wait } from "../journal/journal.ts";
import { parseBody } from "../journal/journal-codec.ts";
import type { StepIdentity } from "../journal/recorded-step.ts";
import { repeatOf } from "../journal/recorded-steps.ts";
import type { Watchdog } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import type { StepFinder } from "./step-finder.ts";

const maxSleepMs = 366 * 24 * 3_600_000;

export function refuseWait(ms: number): void {
  if (!(ms >= 0 && ms <= maxSleepMs))
    throw new InputInvalid(`A wait of ${ms} ms is not between 0 and ${maxSleepMs}.`);
}

export const waitOf = (body: string): Wait => (parseBody(body) as unknown as { readonly wait: Wait }).wait;

/** The recorded waits of one attempt. */
export class StepWaits {
  readonly #drive: PersonaDrive;
  readonly #watchdog: Watchdog;
  readonly #finder: StepFinder;

  constructor(drive: PersonaDrive, watchdog: Watchdog, finder: StepFinder) {
    this.#drive = drive;
    this.#watchdog = watchdog;
    this.#finder = finder;
  }

  from(notBefore: number, waitMs: number): Wait {
    const { restedMs } = this.#drive.journal.state;
    return { notBefore, waitMs, ...(restedMs > 0 && { restedMs }) };
  }

  /** Only the remainder is waited. */
  pass(wait: Wait, during: "work" | "step"): Promise<void> {
    const { clock, control, journal, waiter } = this.#drive;
    const waitMs = remainingWaitMs(wait, clock.now(), journal.state.restedMs);
    const sleep = () => clock.sleep(waitMs, control.stopSignal);
    return this.#watchdog.during(() => waiter.during(waitMs, sleep, during));
  }

  /** How often earlier drivers repeated the call; the remainder of the last wait is waited. */
  async repeatsBefore(call: StepIdentity): Promise<number> {
    for (let repeats = 0; ; repeats += 1) {
      const body = await this.#finder.recall("wait", repeatOf(call, repeats + 1));
      if (body === undefined) return repeats;
      await this.pass(waitOf(body), "step");
    }
  }
}
