import type { ErrorJson } from "../../domain/error-json.ts";
import { failureTable } from "../../domain/failure.ts";
import type { RecordedFailure } from "../../journal/journal.ts";
import type { AttemptState, PersonaState, SessionState } from "../../journal/session-state.ts";
import { errorOf, reasonOf } from "../../journal/standing.ts";
import type { StopReport } from "../schemas/session.ts";

const mostLines = 10;
/** More are told by their number, and found on the timeline. */
const mostNeeds = 50;
/** Who says what is the same for every failure of a category. */
const maestro = "Maestro, of all failures of this kind";

/** Why a session stopped; null while it has not, or for reasons that explain themselves. */
export function stopReport(state: SessionState): StopReport | null {
  const { standing } = state;
  const isStopped = standing.status === "failed" || reasonOf(standing) === "help";
  if (!isStopped) return null;
  const failed = failedPersonas(state);
  const needs = needsOf(state, failed).map(({ attempts }) => explain(presentAttempts(attempts)));
  return {
    ...explain(presentAttempts(failed[0]?.attempts ?? [])),
    needs: needs.length > 1 ? needs : [],
    keptPersonas: keptPersonas(state),
  };
}

/** What stopped one persona, judged by its attempts. */
function explain(attempts: readonly AttemptState[]): Explained {
  const last = attempts.at(-1);
  const failure = last?.failure;
  const isRecognized = failure !== undefined && failure.category !== "UNKNOWN";
  const { meaning } = failureTable[failure?.category ?? "UNKNOWN"];
  return {
    phase: last?.phase ?? null,
    persona: last?.persona ?? null,
    attempts: attempts.length,
    message: failure?.message ?? null,
    category: failure?.category ?? "UNKNOWN",
    recoverable: failure?.recoverable ?? false,
    sameFailure: sameFailure(attempts),
    output: last === undefined || failure === undefined ? null : outputOf(last, failure),
    // Of what nothing recognized only the error itself says something.
    meaning: isRecognized ? { text: meaning, by: maestro } : null,
    suggestedFix: failure === undefined ? null : suggestedFix(failure),
  };
}

type Explained = Omit<StopReport, "needs" | "keptPersonas">;

/** Who asks for help itself knows better than a table what has to be done. */
function suggestedFix({
  category,
  code,
  error,
  source,
  suggestedFix,
}: RecordedFailure): StopReport["suggestedFix"] {
  const isRecognized = category !== "UNKNOWN";
  if (error.advice !== undefined && (code === "HELP_NEEDED" || !isRecognized))
    return { text: error.advice, by: "the error itself" };
  return isRecognized ? { text: suggestedFix, by: source === "error" ? maestro : source } : null;
}

/** Who failed and has not been at work since, last first. */
function failedPersonas({ phases }: SessionState): readonly PersonaState[] {
  return [...phases.values()]
    .flatMap(({ personas }) => [...personas.values()])
    .filter(({ attempts }) => attempts.at(-1)?.status === "failed")
    .toSorted((a, b) => endOf(b.attempts) - endOf(a.attempts));
}

/** Those of its present revision. */
function presentAttempts(attempts: readonly AttemptState[]): readonly AttemptState[] {
  const revision = attempts.at(-1)?.revision;
  return attempts.filter((attempt) => attempt.revision === revision);
}

/** The personas that the error names, in its order: each needs help of its own. */
function needsOf({ standing }: SessionState, failed: readonly PersonaState[]): readonly PersonaState[] {
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
    .slice(0, mostNeeds);
}

const endOf = (attempts: readonly AttemptState[]): number => attempts.at(-1)?.endedAt ?? 0;

/** The same but for its numbers, as in "failed after 12 ms" and "failed after 15 ms". */
function sameFailure(attempts: readonly AttemptState[]): StopReport["sameFailure"] {
  const said = attempts.map(({ failure }) => `${failure?.category} ${failure?.message.replace(/\d+/g, "#")}`);
  if (said.length < 2) return null;
  return { count: said.filter((text) => text === said.at(-1)).length, of: said.length };
}

/** The lines a tool printed, as far as they were kept with the failure. */
function outputOf(attempt: AttemptState, failure: RecordedFailure): StopReport["output"] {
  const lines = failure.details?.split("\n") ?? [];
  if (lines.length === 0) return null;
  const marked = lines.findIndex((text) => text.includes(failure.message.slice(0, 40)));
  const from = Math.max(0, Math.min(marked - Math.floor(mostLines / 2), lines.length - mostLines));
  return {
    command: failure.source,
    exitCode: null,
    round: attempt.round,
    attempt: attempt.attempt,
    // Of the attempt: how long the tool itself took is not kept with its failure.
    durationMs: (attempt.endedAt ?? attempt.startedAt) - attempt.startedAt,
    lines: lines
      .slice(from, from + mostLines)
      .map((text, index) => ({ number: from + index + 1, text, marked: from + index === marked })),
    totalLines: lines.length,
    sha256: null,
  };
}

function keptPersonas({ phases }: SessionState): number {
  return [...phases.values()]
    .filter(({ status }) => status !== "completed")
    .flatMap(({ personas }) => [...personas.values()])
    .filter(({ result }) => result !== undefined).length;
}
