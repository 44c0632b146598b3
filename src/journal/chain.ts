import { advise } from "../domain/advice.ts";
import { JournalCorrupt } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { JournalHead, RecordedRow, Transition } from "./journal.ts";
import { chainHash, decodeTransition, isStep } from "./journal-codec.ts";

export type Seal = Extract<Transition, { kind: "checkpoint.sealed" }>;

/** Kinds of rows that concern earlier rows. */
export const markKinds = ["checkpoint.sealed", "session.forked", "session.restored"] as const;

/**
 * Verifies the rows of a session in order. Each row must follow from the row before it. A program that can write
 * the database can rechain changed rows, but it cannot reproduce a hash recorded elsewhere: each seal contains the
 * hash of the last row that it covers.
 */
export class Chain {
  readonly #id: SessionId;
  /** Seals by this session's drivers, keyed by the last row they cover. Copied seals cover the rows of another journal. */
  readonly #seals: Seal[];
  /** Copied steps precede this row. */
  readonly #forkedSeq: number;
  /** Copies of newer checkpoints may follow the rows of a driver, up to the row that says so. */
  readonly #restoredSeq: number;
  #head: JournalHead;
  #isDriven = false;

  /** `marks`: all rows of `markKinds` after the head. */
  constructor(id: SessionId, head: JournalHead, marks: readonly RecordedRow[]) {
    this.#id = id;
    this.#head = head;
    this.#seals = marks
      .filter((row) => row.kind === "checkpoint.sealed" && isDriven(row))
      .map((row) => readSeal(id, row))
      .filter((seal) => seal.head.seq >= head.seq)
      .sort((one, other) => one.head.seq - other.head.seq);
    this.#forkedSeq = marks.findLast(({ kind }) => kind === "session.forked")?.seq ?? 0;
    this.#restoredSeq = marks.findLast((row) => row.kind === "session.restored" && !isDriven(row))?.seq ?? 0;
  }

  get seq(): number {
    return this.#head.seq;
  }

  add(row: RecordedRow): void {
    verifyRow(this.#id, this.#head, row);
    this.#verifySeals(row.seq);
    // Otherwise a driver's rows could pose as copies, which no seal of this session covers.
    const isOutOfPlace =
      (this.#isDriven && row.seq > this.#restoredSeq) || (isStep(row) && row.seq > this.#forkedSeq);
    if (!isDriven(row) && isOutOfPlace)
      throw damagedAt(this.#id, row.seq, "no driver of this session recorded it");
    this.#isDriven = isDriven(row);
    this.#head = row;
  }

  /** The head is the last row below `seq`. */
  #verifySeals(seq: number): void {
    for (let seal = this.#seals[0]; seal !== undefined && seal.head.seq < seq; seal = this.#seals[0]) {
      const { seq: sealed, hash } = seal.head;
      if (sealed !== this.#head.seq || hash !== this.#head.hash) throw notAsSealed(this.#id, seal);
      this.#seals.shift();
    }
  }
}

/** Drivers have epochs from 1 on. Rows of the creation and copies have none. */
const isDriven = ({ epoch }: RecordedRow): boolean => epoch > 0;

/** Throws unless the row follows from the head before it. Its seq may skip numbers, because the chain covers it. */
export function verifyRow(id: SessionId, head: JournalHead, row: RecordedRow): void {
  if (row.seq > head.seq && chainHash(head.hash, row) === row.hash) return;
  const isGap = row.seq !== head.seq + 1;
  throw damagedAt(id, row.seq, isGap ? `rows after ${head.seq} are missing` : "its hash does not match");
}

/** The row itself is verified in its turn, so it may be damaged here. */
function readSeal(id: SessionId, row: RecordedRow): Seal {
  try {
    const seal = decodeTransition(row) as Seal;
    if (Number.isSafeInteger(seal.head.seq)) return seal;
  } catch {
    // Reported below.
  }
  throw damagedAt(id, row.seq, "it is not a seal that Maestro wrote");
}

function damagedAt(id: SessionId, seq: number, why: string): JournalCorrupt {
  return new JournalCorrupt(`The journal of session ${id} is damaged at row ${seq}: ${why}.`, {
    details: { session: id, seq },
    advice: [
      advise("Restore maestro.db from a backup."),
      advise("Or export the checkpoints", "checkpoints", "export", id, "<file>"),
      advise("and import them elsewhere", "checkpoints", "import", "<file>", "--state-dir", "<folder>"),
      advise("Then remove the session here", "prune", "--damaged", id),
    ],
  });
}

/** Undefined for every other kind of row. */
export const sealIn = (row: RecordedRow): Seal | undefined =>
  row.kind === "checkpoint.sealed" ? (decodeTransition(row) as Seal) : undefined;

/** The last seal of this session. A fork's copied seals cover other rows. */
export function lastSeal(transitions: readonly RecordedRow[]): Seal | undefined {
  const row = transitions.findLast(({ kind }) => kind === "checkpoint.sealed" || kind === "session.forked");
  return row && sealIn(row);
}

export function notAsSealed(id: SessionId, { phase, head }: Pick<Seal, "phase" | "head">): JournalCorrupt {
  return new JournalCorrupt(
    `The journal of session ${id} is damaged: rows up to ${head.seq} are not the ones that checkpoint ${phase} sealed.`,
    {
      details: { session: id, seq: head.seq, phase },
      advice: [
        advise(
          "Restore maestro.db from a backup, or move it away and resume the session from its checkpoints.",
        ),
        advise("Check the state directory", "doctor"),
      ],
    },
  );
}
