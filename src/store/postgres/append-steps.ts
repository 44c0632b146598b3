import { chainHash } from "../../journal/journal-codec.ts";
import type { AppendRows, Command, Placed, Reply } from "../command.ts";
import { encodeName } from "./names.ts";
import { rowsOfOneTransaction } from "./save.ts";
import type { Transaction } from "./transactions.ts";

/** Where a journal ends, and whose it is. */
export interface Head {
  readonly epoch: number;
  readonly owner: string;
  readonly seq: number;
  readonly hash: string;
}

interface Moved extends Head {
  readonly first: number;
}

const appendProved = `WITH proved AS (
    UPDATE leases l SET seq = h.last, hash = h.hash
    FROM unnest($1::bigint[], $2::int[], $3::text[], $4::int[], $5::int[], $6::text[])
      AS h (session, epoch, owner, first, last, hash)
    WHERE l.session = h.session AND l.epoch = h.epoch AND l.owner = h.owner AND l.seq = h.first
    RETURNING l.session),
  appended AS (
    INSERT INTO journal (session, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, hash, position, body)
    SELECT x.session, x.seq, x.epoch, x.at, x.kind, x.attempt, x.occurrence, x.fingerprint, x.name, x.hash,
      pg_current_xact_id()::text::bigint * ${rowsOfOneTransaction} + x.place, x.body
    FROM unnest($7::bigint[], $8::int[], $9::int[], $10::bigint[], $11::text[], $12::int[], $13::int[], $14::text[],
      $15::text[], $16::text[], $17::bigint[], $18::text[])
      AS x (session, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, hash, place, body)
    JOIN proved USING (session)),
  recovered AS (
    UPDATE sessions s SET recoveries = 0 FROM proved
    WHERE s.number = proved.session AND s.recoveries > 0)
  SELECT session FROM proved`;

/**
 * Appends that are only steps, which is nearly all of them, need nothing loaded: the update of a lease proves its
 * epoch, its owner and the end of its journal, and only proved sessions get their rows. Undefined if the commands need
 * more than that.
 */
export function appendSteps(commands: readonly Command[], heads: Map<number, Head>) {
  if (!commands.every((command) => isOnlySteps(command, heads))) return undefined;
  const appends = commands as readonly AppendRows[];
  const moved = new Map<number, Moved>();
  const rows: unknown[][] = [];
  const placed = appends.map((append): Placed[] => {
    const { session, epoch, at } = append;
    const start = moved.get(session) ?? first(heads.get(session) as Head);
    let { seq, hash } = start;
    const places = append.rows.map((row): Placed => {
      seq += 1;
      hash = chainHash(hash, { ...row, seq, epoch, at });
      const { kind, attempt, occurrence, fingerprint, name, body } = row;
      const values = [kind, attempt, occurrence, fingerprint, encodeName(name), hash, rows.length + 1, body];
      rows.push([session, seq, epoch, at, ...values]);
      return [seq, at, hash];
    });
    moved.set(session, { ...start, seq, hash });
    return places;
  });
  return {
    send: (transaction: Transaction) => {
      const ends = [...moved].map(([session, { epoch, owner, first, seq, hash }]) => [
        session,
        epoch,
        owner,
        first,
        seq,
        hash,
      ]);
      const columns = [...transposed(ends, 6), ...transposed(rows, 12)];
      // Not awaited before the commit: the answer of both comes in one round trip.
      return { rows: transaction.sent<{ session: number }>(appendProved, columns) };
    },
    /** The sessions whose rows a committed transaction has, when its answer was lost. */
    find: (transaction: Transaction) => {
      const ends = [...moved].map(([session, { seq, hash }]) => [session, seq, hash]);
      return transaction.read<{ session: number }>(
        `SELECT j.session FROM unnest($1::bigint[], $2::int[], $3::text[]) AS x (session, seq, hash)
         JOIN journal j ON j.session = x.session AND j.seq = x.seq AND j.hash = x.hash`,
        transposed(ends, 3),
      );
    },
    /** Undefined for an append whose lease was not proved: nothing of it was written. */
    replies: (proved: readonly { readonly session: number }[]): readonly (Reply | undefined)[] => {
      const sessions = new Set(proved.map(({ session }) => session));
      for (const [session, { first: _, ...head }] of moved)
        if (sessions.has(session)) heads.set(session, head);
        else heads.delete(session);
      return appends.map(({ session, epoch }, at) =>
        sessions.has(session) ? { kind: "placed", epoch, rows: placed[at] as Placed[] } : undefined,
      );
    },
  };
}

const first = (head: Head): Moved => ({ ...head, first: head.seq });

function isOnlySteps(command: Command, heads: ReadonlyMap<number, Head>): boolean {
  if (command.verb !== "append" || command.rows.length === 0) return false;
  const head = heads.get(command.session);
  if (head === undefined || head.epoch !== command.epoch || head.owner !== command.owner) return false;
  const { artifacts = [], ...others } = command.effects;
  const hasEffects = artifacts.length > 0 || Object.values(others).some((effect) => effect !== undefined);
  return !hasEffects && command.rows.every(({ attempt }) => attempt !== null);
}

function transposed(rows: readonly (readonly unknown[])[], columns: number): unknown[][] {
  return Array.from({ length: columns }, (_, at) => rows.map((row) => row[at]));
}
