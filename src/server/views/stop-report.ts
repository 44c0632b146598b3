import type { ErrorJson } from "../../domain/error-json.ts";
import type { RecordedFailure } from "../../journal/journal.ts";
import type { AttemptState, PersonaState, SessionState } from "../../journal/session-state.ts";
import { errorOf, reasonOf } from "../../journal/standing.ts";
import type { StopReport } from "../schemas/session.ts";

type StoppedPersona = StopReport["personas"][number];

const mostLines = 10;
const mostPersonas = 50;

/** Evidence for the explanation: which personas failed, how often, and with which output. */
export function stopReport(state: SessionState): StopReport | null {
  const { standing } = state;
  const isStopped = standing.status === "failed" || reasonOf(standing) === "help";
  if (!isStopped) return null;
  const failed = failedPersonas(state);
  const named = namedPersonas(state, failed);
  const stopped = named.length > 1 ? named : failed.slice(0, 1);
  return { personas: stopped.flatMap(({ attempts }) => describe(presentAttempts(attempts))) };
}

function describe(attempts: readonly AttemptState[]): readonly StoppedPersona[] {
  const last = attempts.at(-1);
  if (last === undefined) return [];
  const { phase, persona, failure } = last;
  return [
    {
      phase,
      persona,
      attempts: attempts.length,
      category: failure?.category ?? "UNKNOWN",
      recoverable: failure?.recoverable ?? false,
      sameFailure: sameFailure(attempts),
      output: failure === undefined ? null : outputOf(last, failure),
    },
  ];
}

/** Personas whose last attempt failed, latest failure first. */
function failedPersonas({ phases }: SessionState): readonly PersonaState[] {
  return [...phases.values()]
    .flatMap(({ personas }) => [...personas.values()])
    .filter(({ attempts }) => attempts.at(-1)?.status === "failed")
    .toSorted((a, b) => endOf(b.attempts) - endOf(a.attempts));
}

/** The attempts of the current revision. */
function presentAttempts(attempts: readonly AttemptState[]): readonly AttemptState[] {
  const revision = attempts.at(-1)?.revision;
  return attempts.filter((attempt) => attempt.revision === revision);
}

/** The personas that the error names, in its order. */
function namedPersonas({ standing }: SessionState, failed: readonly PersonaState[]): readonly PersonaState[] {
  const { needs = [] } = (errorOf(standing)?.details ?? {}) as {
    readonly needs?: readonly Partial<ErrorJson>[];
  };
  return needs
    .flatMap((need) => {
      const { phase, persona } = need.details ?? {};
      return (
        failed.find(({ attempts }) => {
          const last = attempts.at(-1);
          return last?.phase === phase && last?.persona === persona;
        }) ?? []
      );
    })
    .slice(0, mostPersonas);
}

const endOf = (attempts: readonly AttemptState[]): number => attempts.at(-1)?.endedAt ?? 0;

/** Numbers are ignored, as in "failed after 12 ms" and "failed after 15 ms". */
function sameFailure(attempts: readonly AttemptState[]): StoppedPersona["sameFailure"] {
  const texts = attempts.map(
    ({ failure }) => `${failure?.category} ${failure?.message.replace(/\d+/g, "#")}`,
  );
  if (texts.length < 2) return null;
  return { count: texts.filter((text) => text === texts.at(-1)).length, of: texts.length };
}

function outputOf(attempt: AttemptState, failure: RecordedFailure): StoppedPersona["output"] {
  const lines = failure.details?.split("\n") ?? [];
  if (lines.length === 0) return null;
  const marked = lines.findIndex((text) => text.includes(failure.message.slice(0, 40)));
  const from = Math.max(0, Math.min(marked - Math.floor(mostLines / 2), lines.length - mostLines));
  return {
    command: failure.source,
    exitCode: null,
    round: attempt.round,
    attempt: attempt.attempt,
    // The duration of the whole attempt: a failure does not record the time of the tool alone.
    durationMs: (attempt.endedAt ?? attempt.startedAt) - attempt.startedAt,
    lines: lines
      .slice(from, from + mostLines)
      .map((text, index) => ({ number: from + index + 1, text, marked: from + index === marked })),
    totalLines: lines.length,
    sha256: null,
  };
}
