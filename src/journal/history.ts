import { canonicalJson } from "../domain/canonical.ts";
import { CheckpointCorrupt, InputInvalid, type MaestroErrorOptions } from "../domain/errors.ts";
import { isSessionId } from "../domain/ids.ts";
import { type Json, parseJson } from "../domain/json.ts";
import { type Checkpoint, type CheckpointRow, checkpointFile } from "./checkpoint.ts";
import { eventOf } from "./events.ts";
import { bodyLimits } from "./journal-codec.ts";
import { reduce, reduceCard } from "./reduce.ts";
import { copiedEpoch, type RecordedRow } from "./row.ts";
import type { Fault } from "./schema.ts";
import type { SessionCard } from "./session-card.ts";
import { emptyState, type SessionState } from "./session-state.ts";
import type { SessionUsage } from "./values.ts";

/** The session's first row is in its first checkpoint, as JSON. */
const firstSeq = 1;

/**
 * Proves that the rows of these checkpoints, which follow each other, are a history that this version can read: known
 * kinds, valid fields, ascending seqs, the sealed digest, and a state at the end. A seal proves none of that, because
 * anyone can write one. Returns that state. `advice`: how to get a better copy.
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
  /** The last row that the checkpoint before covers. */
  #head = 0;

  constructor(id: Parameters<typeof emptyState>[0], advice: MaestroErrorOptions["advice"]) {
    this.#advice = advice;
    this.state = emptyState(id);
  }

  addAll(checkpoint: Checkpoint): void {
    const { rows, journal, transitions, usage = [] } = checkpoint.content;
    for (const row of rows) {
      if (row.kind === "session.created") throw this.#refuse(checkpoint, row, "a session is created once");
      this.add(row, checkpoint);
    }
    if (this.state.transitions !== transitions)
      throw this.#refuse(checkpoint, undefined, "its rows do not have the digest that it seals");
    const fault = sumFault(usage);
    if (fault !== undefined)
      throw this.#refuse(checkpoint, undefined, `${fault.path} ${fault.problem}`, fault.path);
    this.#head = journal.seq;
  }

  add(row: CheckpointRow, checkpoint: Checkpoint): void {
    const { seq, at, kind, body } = row;
    const { journal } = checkpoint.content;
    if (seq <= Math.max(this.#head, this.state.head.seq) || seq > journal.seq)
      throw this.#refuse(checkpoint, row, "its seq is out of order", "seq");
    const event = eventOf(kind);
    if (event === undefined)
      throw this.#refuse(checkpoint, row, "this version does not know the kind", "kind");
    const fault = event.row.check(this.#parse(body, row, checkpoint), "");
    if (fault !== undefined)
      throw this.#refuse(checkpoint, row, `${fault.path} ${fault.problem}`.trim(), fault.path);
    const recorded: RecordedRow = {
      seq,
      epoch: copiedEpoch,
      at,
      kind,
      attempt: null,
      occurrence: null,
      fingerprint: null,
      name: null,
      body,
      hash: "",
    };
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

/** Each sum is a whole number, and budgets add them up. */
function sumFault(usage: readonly SessionUsage[]): Fault | undefined {
  const total = usage.flatMap(({ sums }) => Object.values(sums)).reduce((all, sum) => all + sum, 0);
  return Number.isSafeInteger(total) ? undefined : { path: "usage", problem: "has sums beyond 2^53 - 1" };
}
