import { RedactedText } from "../domain/redacted-text.ts";
import type { RunStep } from "../journal/durable-step.ts";

/** The live text of one attempt, without secrets. */
export class LiveText {
  readonly #say: (text: string) => void;
  readonly #text = new RedactedText();

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  add(delta: string): void {
    this.#show(this.#text.add(delta));
  }

  /** Shows the end of each answer before the answer is recorded: later text belongs to the next one. */
  endingWith(runStep: RunStep): RunStep {
    return (step) => {
      if (step.kind !== "model" && step.kind !== "command") return runStep(step);
      const effect = async (allowedOutput?: number) => {
        try {
          return await step.effect(allowedOutput);
        } finally {
          this.#show(this.#text.end());
        }
      };
      return runStep({ ...step, effect });
    };
  }

  #show(text: string): void {
    if (text !== "") this.#say(text);
  }
}
