import { InputInvalid } from "../domain/errors.ts";
import { remainingWaitMs } from "../domain/retry-policy.ts";
import type { Asks } from "../journal/durable-step.ts";
import type { Wait } from "../journal/journal.ts";
import { parseBody } from "../journal/journal-codec.ts";
import type { StepIdentity } from "../journal/recorded-step.ts";
import { repeatOf } from "../journal/recorded-steps.ts";
import type { Asking, WaitingPlace } from "./asking.ts";
import type { Infrastructure } from "./control.ts";
import type { PersonaDrive } from "./drive.ts";
import type { StepToRun } from "./step-effect.ts";
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
  readonly #place: WaitingPlace;
  readonly #finder: StepFinder;
  readonly #infrastructure: Infrastructure;
  /** Loaded with the first call that waits for a person. */
  #asking: Promise<Asking> | undefined;

  constructor(drive: PersonaDrive, place: WaitingPlace, finder: StepFinder, infrastructure: Infrastructure) {
    this.#drive = drive;
    this.#place = place;
    this.#finder = finder;
    this.#infrastructure = infrastructure;
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
    return this.#place.watchdog.during(() => waiter.during(waitMs, sleep, during));
  }

  /** The step as a person's word leaves it. Its identity stays, so that its record is found again. */
  async forPerson<T>(step: StepToRun<T>, asks: Asks<T>, identity: StepIdentity): Promise<StepToRun<T>> {
    this.#asking ??= import("./asking.ts").then(
      ({ Asking }) => new Asking(this.#drive, this.#place, this.#finder, this.#infrastructure),
    );
    const word = await (await this.#asking).wordOn(step.name, asks, identity);
    return { ...step, ...(await asks.decide(word)) };
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
