import { canonicalJson } from "../domain/canonical.ts";
import { CheckpointCorrupt, InputInvalid, type MaestroErrorOptions } from "../domain/errors.ts";
import { isSessionId } from "../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";
import { type Checkpoint, type CheckpointRow, checkpointFile, initPhase } from "./checkpoint.ts";
import { eventOf } from "./events.ts";
import { bodyLimits, chainHash, chainStart, transitionRow } from "./journal-codec.ts";
import { plannedPhases } from "./planned.ts";
import { reduce, reduceCard } from "./reduce.ts";
import { copiedEpoch, type RecordedRow } from "./row.ts";
import type { SessionCard } from "./session-card.ts";
import { emptyState, type SessionState } from "./session-state.ts";
import { sealFault, summaryFault } from "./summary-fault.ts";

/** The first checkpoint has the session's first row as JSON. */
const firstSeq = 1;

/**
 * Proves that these consecutive checkpoints form a history that this version can read: rows of known kinds with
 * valid fields and ascending seqs, the sealed digest, a state at the end, and summaries that agree with the rows. A
 * seal proves none of that, because anyone can write one. Returns the final state. `advice`: how to get a better
 * copy.
 */
export function checkHistory(
  checkpoints: readonly Checkpoint[],
  advice: MaestroErrorOptions["advice"],
): SessionState {
  const [init] = checkpoints;
  if (init?.content.session === undefined || !isSessionId(init.content.sessionId))
    throw new Error("a history starts with the checkpoint of the session's start");
  const history = new History(init.content.sessionId, advice);
  const { session, createdAt } = init.content;
  const body = canonicalJson(session as unknown as Json);
  history.add({ seq: firstSeq, at: createdAt, kind: "session.created", body }, init);
  for (const checkpoint of checkpoints) history.addAll(checkpoint);
  return history.state;
}

class History {
  readonly #advice: MaestroErrorOptions["advice"];
  state: SessionState;
  #card: SessionCard | undefined;
  /** The previous checkpoint, whose seal is among the next rows. */
  #before: Checkpoint | undefined;
  #isSealed = true;

  constructor(id: Parameters<typeof emptyState>[0], advice: MaestroErrorOptions["advice"]) {
    this.#advice = advice;
    this.state = emptyState(id);
  }

  addAll(checkpoint: Checkpoint): void {
    const { rows, transitions, phase } = checkpoint.content;
    for (const row of rows) {
      if (row.kind === "session.created" || (row.kind === "session.forked" && phase !== initPhase))
        throw this.#refuse(checkpoint, row, "a session is created once");
      this.add(row, checkpoint);
    }
    if (this.state.transitions !== transitions)
      throw this.#refuse(checkpoint, undefined, "its rows do not have the digest that it seals");
    if (!this.#isSealed)
      throw this.#refuse(checkpoint, undefined, "its rows lack the seal of the checkpoint before it");
    const fault = summaryFault(this.state, checkpoint, this.#before);
    if (fault !== undefined)
      throw this.#refuse(checkpoint, undefined, `${fault.path} ${fault.problem}`, fault.path);
    this.#before = checkpoint;
    this.#isSealed = phase === initPhase;
  }

  add(row: CheckpointRow, checkpoint: Checkpoint): void {
    const { seq, kind, body } = row;
    const { journal } = checkpoint.content;
    const covered = this.#before?.content.journal.seq ?? 0;
    if (seq <= Math.max(covered, this.state.head.seq) || seq > journal.seq)
      throw this.#refuse(checkpoint, row, "its seq is out of order", "seq");
    const event = eventOf(kind);
    if (event === undefined)
      throw this.#refuse(checkpoint, row, "this version does not know the kind", "kind");
    const parsed = this.#parse(body, row, checkpoint);
    const fault = event.row.check(parsed, "") ?? this.#placeFault(parsed, checkpoint);
    if (fault !== undefined)
      throw this.#refuse(checkpoint, row, `${fault.path} ${fault.problem}`.trim(), fault.path);
    // The initial rows of a fork come from its parent, whose checkpoints are not here.
    if (kind === "checkpoint.sealed" && checkpoint.content.phase !== initPhase)
      this.#seal(parsed as JsonObject, row, checkpoint);
    this.#reduce(row, checkpoint);
  }

  #seal(sealed: JsonObject, row: CheckpointRow, checkpoint: Checkpoint): void {
    if (this.#isSealed || this.#before === undefined)
      throw this.#refuse(checkpoint, row, "it seals no checkpoint");
    const fault = sealFault(sealed, this.#before);
    if (fault !== undefined)
      throw this.#refuse(checkpoint, row, `${fault.path} ${fault.problem}`, fault.path);
    this.#isSealed = true;
  }

  /** Rows concern phases and personas of the team. A fork's initial rows concern its parent's team. */
  #placeFault(row: Json, { content }: Checkpoint) {
    if (content.phase === initPhase || !isJsonObject(row)) return undefined;
    const { phase, persona } = row;
    if (typeof phase !== "string") return undefined;
    const { created, begun } = this.state;
    const phases = [created, begun].flatMap(({ definition }) => plannedPhases(definition));
    const planned = phases.filter(({ name }) => name === phase);
    if (planned.length === 0) return { path: "phase", problem: "is not a phase of its team" };
    if (typeof persona !== "string") return undefined;
    const isKnown = planned.some(({ personas }) => personas.some(({ name }) => name === persona));
    return isKnown ? undefined : { path: "persona", problem: "is not a persona of that phase" };
  }

  #reduce(row: CheckpointRow, checkpoint: Checkpoint): void {
    const { seq, at, kind, body } = row;
    const written = { ...transitionRow(kind as never, body), seq, at };
    // Only the first row's hash is known: later hashes cover steps, which no checkpoint has.
    const hash = seq === firstSeq ? chainHash(chainStart(this.state.id), { ...written, epoch: 0 }) : "";
    const recorded: RecordedRow = { ...written, epoch: copiedEpoch, hash };
    try {
      this.state = reduce(this.state, recorded);
      this.#card = reduceCard(this.#card, recorded);
    } catch (cause) {
      throw this.#refuse(checkpoint, row, "it does not follow from the rows before it", undefined, cause);
    }
  }

  #parse(body: string, row: CheckpointRow, checkpoint: Checkpoint): Json {
    try {
      return parseJson(body, { ...bodyLimits, what: "its body", refuseProto: true });
    } catch (cause) {
      if (!InputInvalid.is(cause)) throw cause;
      throw this.#refuse(checkpoint, row, cause.message, "body", cause);
    }
  }

  #refuse(
    { content: { phase, revision } }: Checkpoint,
    row: CheckpointRow | undefined,
    why: string,
    field?: string,
    cause?: unknown,
  ): CheckpointCorrupt {
    const file = checkpointFile(phase, revision);
    const place = row === undefined ? "" : `, row ${row.seq} (${row.kind.slice(0, 80)})`;
    return new CheckpointCorrupt(`${file} of session ${this.state.id} is damaged${place}: ${why}.`, {
      advice: this.#advice,
      details: {
        session: this.state.id,
        what: file,
        why,
        ...(row !== undefined && { seq: row.seq, kind: row.kind.slice(0, 80) }),
        ...(field !== undefined && { field }),
      },
      cause,
    });
  }
}
