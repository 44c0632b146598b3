import { failureTable } from "../../domain/failure.ts";
import type { RecordedFailure } from "../../domain/journal.ts";
import type { AttemptState, SessionState } from "../../domain/session-state.ts";
import type { StopReport } from "../schemas/session.ts";

const mostLines = 10;
/** Who says what is the same for every failure of a category. */
const maestro = "Maestro, of all failures of this kind";

/** Why a session stopped; null while it has not, or for reasons that explain themselves. */
export function stopReport(state: SessionState): StopReport | null {
  const isStopped = state.status === "failed" || (state.status === "parked" && state.reason === "help");
  if (!isStopped) return null;
  const attempts = attemptsOf(state);
  const last = attempts.at(-1);
  const failure = last?.failure;
  const isRecognized = failure !== undefined && failure.category !== "UNKNOWN";
  const { meaning } = failureTable[failure?.category ?? "UNKNOWN"];
  return {
    phase: last?.phase ?? null,
    persona: last?.persona ?? null,
    category: failure?.category ?? "UNKNOWN",
    recoverable: failure?.recoverable ?? false,
    sameFailure: sameFailure(attempts),
    output: last === undefined || failure === undefined ? null : outputOf(last, failure),
    // Of what nothing recognized only the error itself says something.
    meaning: isRecognized ? { text: meaning, by: maestro } : null,
    suggestedFix: failure === undefined ? null : suggestedFix(failure),
    keptPersonas: keptPersonas(state),
  };
}

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

/** Of the persona that failed last, those of its present revision. */
function attemptsOf({ phases }: SessionState): readonly AttemptState[] {
  const failed = [...phases.values()]
    .flatMap(({ personas }) => [...personas.values()])
    .filter(({ attempts }) => attempts.at(-1)?.status === "failed");
  const newest = failed.toSorted((a, b) => endOf(b.attempts) - endOf(a.attempts))[0];
  const revision = newest?.attempts.at(-1)?.revision;
  return newest?.attempts.filter((attempt) => attempt.revision === revision) ?? [];
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
