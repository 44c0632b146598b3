import { alertText } from "../domain/budget-alert.ts";
import type { GateResult } from "../domain/contract.ts";
import type { AttemptSettings, Healed } from "../domain/healing-action.ts";
import { isoTime, isoTimeOrNull } from "../domain/iso-time.ts";
import type { Json } from "../domain/json.ts";
import type { AfterFailure, ClaimCause, RecordedFailure, Transition } from "./journal.ts";
import { plannedPhases } from "./planned.ts";
import type {
  Fact,
  FactBodies,
  FactKind,
  FactMark,
  FactOf,
  FailedFact,
  GateFact,
  Nothing,
  PlannedFact,
} from "./public-fact.ts";
import { errorOf, reasonOf, wakeAtOf } from "./standing.ts";

interface Wording<Kind extends FactKind> {
  /** What happened, as a verb phrase whose subject is the fact's place. Times and durations are left to renderers. */
  readonly sentence: (fact: FactOf<Kind>) => string;
  readonly mark?: (fact: FactOf<Kind>) => FactMark | null;
  /** The filter "transitions" shows it. */
  readonly isTransition?: true;
  /** A terminal prints no line for it. */
  readonly isQuiet?: (fact: FactOf<Kind>) => boolean;
}

export interface FactContext {
  readonly at: number;
  readonly epoch: number;
  /** When the attempt that the row belongs to began. */
  readonly startedAt: number | undefined;
}

type RowKind = Transition["kind"];
type EntryOf<Kind extends RowKind> = Extract<Transition, { readonly kind: Kind }>;

/** A kind's wording where the kind is known at run time only. */
type AnyWording = { readonly [Kind in FactKind]: Wording<Kind> }[FactKind];

interface Declared<Kind extends RowKind> extends Wording<Kind> {
  readonly fact: (entry: EntryOf<Kind>, context: FactContext) => FactBodies[Kind];
}

const always = (): true => true;
const nothing = (): Nothing => ({});

/** For each kind of row: its public fact and its sentence. The type makes a kind without an entry a compile error. */
const ofRows: { readonly [Kind in RowKind]: Declared<Kind> } = {
  "session.created": {
    fact: ({ team, brief, model = null, definition, given = [] }) => ({
      team,
      brief: shorten(brief),
      model,
      phases: planOf(definition),
      given: given.map(({ phase }) => phase),
    }),
    sentence: ({ team }) => `created for team ${team}`,
    isTransition: true,
    isQuiet: always,
  },
  "session.restored": {
    fact: nothing,
    sentence: () => "restored from its checkpoints",
    mark: () => "restart",
    isTransition: true,
  },
  "session.forked": {
    fact: ({ kept }) => ({ kept }),
    sentence: ({ kept }) =>
      kept.length === 0 ? "forked" : `forked, reuses ${kept.join(", ")} from the forked session`,
    mark: () => "reused",
    isTransition: true,
  },
  "session.claimed": {
    fact: ({ cause }, { epoch }) => ({ cause, epoch }),
    sentence: ({ cause, epoch }) => `${claims[cause]}, lease epoch ${epoch}`,
    mark: ({ cause }) => (cause === "recovery" ? "restart" : null),
    isTransition: true,
    isQuiet: ({ cause }) => cause !== "recovery",
  },
  "session.directed": {
    fact: ({ only = null, from = null, until = null, pauseAfter = null }) => ({
      only,
      from,
      until,
      pauseAfter,
    }),
    sentence: (direction) => `directed ${directionText(direction)}`,
    isTransition: true,
    isQuiet: always,
  },
  "session.status": {
    fact(standing) {
      const error = errorOf(standing);
      return {
        status: standing.status,
        reason: reasonOf(standing) ?? null,
        message: error === undefined ? null : shorten(error.message),
        wakeAt: isoTimeOrNull(wakeAtOf(standing)),
      };
    },
    sentence: ({ status, reason, message }) =>
      `${reason === null ? status : `${status} for ${reason}`}${message === null ? "" : `: ${message}`}`,
    mark: ({ status }) => status,
    isTransition: true,
    isQuiet: always,
  },
  "team.changed": {
    fact: ({ changes, definition, reset }) => ({ changes, phases: planOf(definition), reset }),
    sentence: ({ changes }) => `team changed: ${changes.join("; ")}`,
    isTransition: true,
  },
  "message.received": {
    fact: ({ message }) => ({
      say: message.say,
      note: "note" in message && message.note !== undefined ? shorten(message.note) : null,
    }),
    sentence: ({ say, note }) => `received signal ${say}${note === null ? "" : `: ${note}`}`,
    isTransition: true,
  },
  "phase.started": { fact: nothing, sentence: () => "started", isTransition: true },
  "phase.completed": {
    fact: ({ gate, awaitsReview = false }) => ({ gate: gateFact(gate), awaitsReview }),
    sentence: ({ gate, awaitsReview }) =>
      `completed${gateClause(gate)}${awaitsReview ? ", waits for review" : ""}`,
    mark: () => "good",
    isTransition: true,
  },
  "phase.edited": {
    fact: nothing,
    sentence: () => "edited by a person",
    mark: () => "sealed",
    isTransition: true,
  },
  "group.merged": { fact: nothing, sentence: () => "merged the files of its personas", isQuiet: always },
  "persona.reused": {
    fact: nothing,
    sentence: () => "reused its result: its inputs have not changed",
    mark: () => "reused",
  },
  "checkpoint.sealed": {
    fact: ({ revision, sha256 }) => ({ revision, sha256 }),
    sentence: ({ revision, sha256 }) => `sealed revision ${revision}, ${sha256.slice(0, 12)}`,
    mark: () => "sealed",
    isTransition: true,
  },
  "attempt.started": {
    fact: ({ continues }) => ({ continues: continues !== undefined }),
    sentence: ({ continues }) =>
      continues ? "attempt started, continues the one before" : "attempt started",
    isTransition: true,
  },
  "attempt.completed": {
    fact: ({ result, healed }, { at, startedAt }) => ({
      tookMs: startedAt === undefined ? null : at - startedAt,
      summary: shorten(result.summary),
      healed: healed?.action ?? null,
    }),
    sentence: ({ summary, healed }) =>
      `attempt completed: ${summary}${healed === null ? "" : ` (healed: ${healed})`}`,
    mark: () => "good",
    isTransition: true,
  },
  "attempt.failed": {
    fact: failedFact,
    sentence: (fact) => `attempt failed: ${failedText(fact)}`,
    mark: () => "bad",
    isTransition: true,
  },
  "attempt.reopened": {
    fact: failedFact,
    sentence: (fact) => `attempt reopened: ${failedText(fact)}`,
    mark: () => "bad",
    isTransition: true,
  },
  "attempt.diverged": {
    fact: ({ step, recorded, now }) => ({ step, recorded, now }),
    sentence: ({ step }) => `step "${step}" differs from its record; it and the steps after it run again`,
  },
  "dependency.waiting": {
    fact: ({ dependency, until }) => ({ dependency, until: isoTime(until) }),
    sentence: ({ dependency }) => `waits for ${dependency}`,
    mark: () => "waits",
  },
  "decision.recorded": {
    fact: ({ title, choice }) => ({ title: shorten(title), choice: shorten(choice) }),
    sentence: ({ title, choice }) => `decided ${title}: ${choice}`,
  },
  "budget.alerted": {
    fact: ({ alert }) => ({ alert, message: alertText(alert) }),
    sentence: ({ message }) => message,
    mark: () => "waits",
    isTransition: true,
  },
};

const kinds: { readonly [Kind in FactKind]: Wording<Kind> } = {
  ...ofRows,
  step: {
    sentence: ({ step, name, outcome }) =>
      `${step === "check" ? "check " : step === "wait" ? "waits: " : ""}${name} ${outcome}`.trim(),
    mark: ({ step, passed }) => (passed ? (step === "check" ? "good" : null) : "bad"),
  },
  "budget.reserved": {
    sentence: ({ call, usd, tokens }) =>
      `${call} reserved ${usd === null ? `${tokens.toLocaleString("en-US")} tokens` : dollars(usd)}`,
  },
  "budget.settled": {
    sentence: ({ call, usd, inputTokens, outputTokens }) => {
      const spent = usd === null ? "at an unknown price" : dollars(usd);
      const tokens = `${inputTokens.toLocaleString("en-US")} tokens in, ${outputTokens.toLocaleString("en-US")} out`;
      return `${call} settled ${spent}, ${tokens}`;
    },
  },
};

/** The public fact of a transition. Steps have theirs from `FactReader`. */
export function factOf(entry: Transition, context: FactContext): Fact {
  const { fact } = ofRows[entry.kind];
  return { kind: entry.kind, ...fact(entry as never, context) } as Fact;
}

/** A newer server may send kinds that this page does not know. */
const wordingOf = ({ kind }: Fact): AnyWording | undefined =>
  (kinds as unknown as Partial<Readonly<Record<string, AnyWording>>>)[kind];

export const sentenceOf = (fact: Fact): string =>
  wordingOf(fact)?.sentence(fact as never) ?? (fact as { readonly kind: string }).kind;
export const markOf = (fact: Fact): FactMark | null => wordingOf(fact)?.mark?.(fact as never) ?? null;
export const isTransition = (fact: Fact): boolean => wordingOf(fact)?.isTransition === true;
export const isQuiet = (fact: Fact): boolean => wordingOf(fact)?.isQuiet?.(fact as never) === true;
export const isFailure = (fact: Fact): boolean =>
  fact.kind === "attempt.failed" || (fact.kind === "step" && !fact.passed);
/** The attempt that the fact belongs to has ended: its files, steps and result are final. */
export const endsAttempt = (fact: Fact): boolean =>
  fact.kind === "attempt.completed" || fact.kind === "attempt.failed";

export function gateFact(gate: GateResult | null | undefined): GateFact | null {
  if (gate === undefined || gate === null) return null;
  const { threshold = null, score = null, verdict } = gate;
  return { threshold, score, verdict };
}

/** ", gate 0.88 of 0.80"; empty where no gate was judged. */
export function gateClause(gate: GateFact | null): string {
  if (gate === null || gate.score === null) return "";
  return gate.threshold === null
    ? `, score ${gate.score.toFixed(2)}`
    : `, gate ${gate.score.toFixed(2)} of ${gate.threshold.toFixed(2)}`;
}

const claims: Readonly<Record<ClaimCause, string>> = {
  start: "started",
  resume: "resumed",
  recovery: "taken over from a process that died",
  message: "claimed to act on a signal",
};

function directionText({ only, from, until, pauseAfter }: FactOf<"session.directed">): string {
  const parts = [
    only === null ? "" : `to run only ${only.join(", ")}`,
    from === null ? "" : `to run from ${from}`,
    until === null ? "" : `to stop after ${until}`,
    pauseAfter === null ? "" : `to pause after ${pauseAfter.join(", ")}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "to run to the end" : parts.join(", ");
}

function failedFact({
  failure,
  next,
  healing = [],
  settings,
}: {
  readonly failure: RecordedFailure;
  readonly next: AfterFailure;
  readonly healing?: readonly Healed[];
  readonly settings?: AttemptSettings;
}): FailedFact {
  const { error: _, ...known } = failure;
  return {
    failure: known,
    next: next.kind,
    notBefore: "wait" in next ? isoTime(next.wait.notBefore) : null,
    waitMs: "wait" in next ? next.wait.waitMs : null,
    healing,
    settings: settings ?? null,
  };
}

const afterwards: Readonly<Record<AfterFailure["kind"], string>> = {
  attempt: "",
  round: ", a new round follows",
  help: ", no attempts left",
  stop: ", stops",
};

const failedText = ({ failure, next }: FailedFact): string => `${failure.message}${afterwards[next]}`;

const planOf = (definition: Json): PlannedFact[] =>
  plannedPhases(definition).map(({ name, personas }) => ({
    name,
    personas: personas.map((persona) => persona.name),
  }));

const dollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;

const mostTextLength = 500;

const shorten = (text: string): string =>
  text.length <= mostTextLength ? text : `${text.slice(0, mostTextLength).toWellFormed()}…`;
