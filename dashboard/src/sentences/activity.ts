import type { Activity, Doing, Held } from "../api/types.ts";
import { oneLine } from "../format/plain-text.ts";
import { clockSeconds, countdown, soon } from "../format/time.ts";
import { code, held as heldPart, type Phrase } from "./phrase.ts";

interface Verb {
  readonly now: string;
  readonly past: string;
}

const verbs: Readonly<Record<Doing, Verb>> = {
  thinks: { now: "thinks", past: "was thinking" },
  reads: { now: "reads", past: "was reading" },
  lists: { now: "lists", past: "was listing" },
  searches: { now: "searches", past: "was searching" },
  edits: { now: "edits", past: "was editing" },
  writes: { now: "writes", past: "was writing" },
  deletes: { now: "deletes", past: "was deleting" },
  moves: { now: "moves", past: "was moving" },
  checks: { now: "runs check", past: "was running check" },
  decides: { now: "records a decision", past: "was recording a decision" },
  asks: { now: "asks a person", past: "was asking a person" },
  submits: { now: "submits", past: "was submitting" },
  runs: { now: "runs", past: "was running" },
  ran: { now: "ran", past: "had run" },
};

/** Past: the connection is lost, and the page shows the last known activity. */
export type Tense = "now" | "past";

/** "writes src/payments/refund.ts" */
export function activityPhrase(activity: Activity, tense: Tense = "now"): Phrase {
  const verb = verbs[activity.doing][tense];
  return activity.target === null ? [verb] : [`${verb} `, code(oneLine(activity.target, 200))];
}

/** "Retries in 3 s. typecheck failed, 2 errors" */
export function heldPhrase(held: Held, now: number, tense: Tense = "now"): Phrase {
  switch (held.kind) {
    case "retry": {
      if (tense === "past") return [`was to retry at ${clockSeconds(Date.parse(held.notBefore))}`];
      const because = held.because === "" ? "" : ` ${oneLine(held.because, 120)}`;
      return [heldPart(`Retries ${soon(Date.parse(held.notBefore) - now)}.`), because];
    }
    case "breaker": {
      if (tense === "past") return [`was waiting for ${held.dependency}`];
      const probe = held.probeAt === null ? "" : ` Probe in ${countdown(Date.parse(held.probeAt) - now)}`;
      return [heldPart(`Waits for ${held.dependency}.`), probe];
    }
    case "rate-limit": {
      if (tense === "past") return [`was waiting for ${held.dependency}`];
      const wait = soon(Date.parse(held.notBefore) - now);
      return [heldPart(`Waits for ${held.dependency}.`), ` Rate limit, continues ${wait}`];
    }
    case "reservation":
      if (tense === "past") return [`was waiting for the budget of the ${held.level}`];
      return [heldPart("Waits for budget."), ` Calls under way hold what is left of the ${held.level}`];
  }
}

/** The status word of a waiting persona: "retries in 3 s", "waits for openai". */
export function heldWord(held: Held, now: number): string {
  if (held.kind === "retry") return `Retries ${soon(Date.parse(held.notBefore) - now)}`;
  return held.kind === "reservation" ? "Waits for budget" : `Waits for ${held.dependency}`;
}
