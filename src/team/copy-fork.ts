import { type Amount, add, noAmount } from "../domain/budget.ts";
import { SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Entry, ForkOrigin, PaidAmount, RecordedRow, Transition } from "../domain/journal.ts";
import { isStep } from "../domain/journal-codec.ts";
import type { Message } from "../domain/message.ts";
import type { PersonaState, SessionState } from "../domain/session-state.ts";
import type { RunSample } from "../state/ledger-store.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import { readState } from "../state/session-journal.ts";
import type { Store } from "../state/store.ts";
import type { TeamDefinition } from "./definition/team-definition.ts";
import {
  begunAfresh,
  everKnown,
  rowOfKeptPersona,
  rowOfPersona,
  rowsOfPhase,
  stepsAtHand,
  takenOver,
} from "./fork.ts";
import { paidCalls } from "./paid-calls.ts";

type BudgetMessage = Extract<Message, { readonly say: "budget" }>;

/** Rows of one append while a fork is made: a long history in bounded bites. */
const rowsAtOnce = 200;

/**
 * Makes everything a fork may use its own, so that its parent can be pruned: the phases before it, what a person
 * edited, for every later persona its result, and of all of them the recorded steps: a fork of the fork may need them. Interrupted, it is simply done again.
 */
export async function copyFromParent(
  store: Store,
  journal: SessionJournal,
  definition: TeamDefinition,
): Promise<void> {
  const { fork } = journal.state.created;
  if (fork === undefined || journal.state.copied) return;
  const parent = await readParent(store, journal.state.id, fork.session as SessionId);
  await takeOverLimits(parent, journal);
  const kept = takenOver(definition, parent, fork);
  for (const name of kept) await takeOverPhase(name, fork, parent, journal);
  const owners = await takeOverPersonas(definition, kept, fork, parent, journal);
  await copySteps(owners, parent, store, journal);
  // The fork points to all that its parent does: whatever its rows name stays when the parent is pruned.
  await journal.append([{ kind: "fork.copied" }], { artifactsOf: parent.id });
}

async function readParent(store: Store, id: SessionId, parent: SessionId): Promise<SessionState> {
  try {
    return await readState(store, parent);
  } catch (error) {
    if (!SessionNotFound.is(error)) throw error;
    throw new SessionNotFound(
      `There is no session ${parent}, and its fork ${id} does not stand on its own before it has begun.`,
      {
        cause: error,
        details: { session: id, parent },
        advice: `Bring ${parent} here first: maestro show ${parent}, where its folder is; else maestro checkpoints export ${parent} <file> where it is known, and maestro checkpoints import <file> here.`,
      },
    );
  }
}

/** What a person allowed the session holds for its fork too; what the fork spends is counted anew. */
async function takeOverLimits({ budgets }: SessionState, journal: SessionJournal): Promise<void> {
  const { state } = journal;
  const rows = [...budgets]
    .filter(([name]) => !state.budgets.has(name))
    .map(([called, budget]): Transition => {
      const [level, ...names] = called.split(" ");
      const name = names.join(" ");
      const of = { level: level as BudgetMessage["level"], ...(name !== "" && { name }) };
      return { kind: "message.received", message: { say: "budget", ...of, budget }, sentAt: state.updatedAt };
    });
  if (rows.length > 0) await journal.append(rows);
}

async function takeOverPhase(
  name: string,
  fork: ForkOrigin,
  parent: SessionState,
  journal: SessionJournal,
): Promise<void> {
  const { status, revision = 1 } = journal.state.phases.get(name) ?? {};
  const isSentBack = revision > (parent.phases.get(name)?.revision ?? 1);
  if (status === "completed" || isSentBack) return;
  await journal.append(rowsOfPhase(name, fork, parent), { artifactsOf: parent.id });
}

/** The row of the fork that a step of the parent now belongs to, by the step itself or by the row that owned it. */
interface NewOwners {
  readonly bySeq: Map<number, number>;
  readonly byOwner: Map<number, number>;
}

async function takeOverPersonas(
  definition: TeamDefinition,
  kept: readonly string[],
  fork: ForkOrigin,
  parent: SessionState,
  journal: SessionJournal,
): Promise<NewOwners> {
  const owners: NewOwners = { bySeq: new Map(), byOwner: new Map() };
  const cost = await costOfPersonas(journal.store, parent);
  const afresh = begunAfresh(definition, fork);
  for (const { name: phase, personas } of definition.phases) {
    const isKept = kept.includes(phase);
    const of = { parent, fork, afresh: afresh.has(phase) };
    for (const { name: persona } of personas) {
      const known = everKnown(parent, phase)?.personas.get(persona);
      const spent = known === undefined ? [] : sumByModel(cost(phase, persona, known));
      const row = isKept
        ? rowOfKeptPersona(phase, persona, parent, spent)
        : rowOfPersona(phase, persona, of, spent);
      if (row === undefined) continue;
      const [written] = await journal.append([row]);
      const hasSteps = known !== undefined && (isKept || !of.afresh);
      if (hasSteps && written !== undefined) giveSteps(known, parent, written.seq, owners);
    }
  }
  return owners;
}

/** All that led to its result; without one, what whoever resumes the parent would go on with. */
function giveSteps(known: PersonaState, parent: SessionState, row: number, owners: NewOwners): void {
  for (const owner of known.candidate?.steps.owners ?? []) owners.byOwner.set(owner, row);
  if (known.result !== undefined) for (const { started } of known.attempts) owners.byOwner.set(started, row);
  else
    for (const steps of stepsAtHand(known, parent))
      for (const seq of steps.seqs()) owners.bySeq.set(seq, row);
}

/** What its results cost, with what was taken from the record of its own parent and not paid there. */
async function costOfPersonas(
  store: Store,
  { id }: SessionState,
): Promise<(phase: string, persona: string, known: PersonaState) => readonly PaidAmount[]> {
  const amounts = new Map<string, PaidAmount[]>();
  const count = ({ phase, persona, model, spent }: RunSample) => {
    const known = amounts.get(`${phase} ${persona}`) ?? [];
    known.push({ model, ...spent });
    amounts.set(`${phase} ${persona}`, known);
  };
  for await (const call of paidCalls(store, id)) count(call);
  for (const reused of await store.ledger.reused(id)) count(reused);
  return (phase, persona, { result, attempts, candidate }) => {
    const worked = result !== undefined && attempts.length > 0;
    return (worked ? amounts.get(`${phase} ${persona}`) : candidate?.spent) ?? [];
  };
}

function sumByModel(amounts: readonly PaidAmount[]): PaidAmount[] {
  return [...Map.groupBy(amounts, ({ model }) => model)].map(([model, calls]) => {
    const { tokens, microUsd } = calls.reduce<Amount>(add, noAmount);
    return { model, tokens, microUsd };
  });
}

async function copySteps(
  { bySeq, byOwner }: NewOwners,
  parent: SessionState,
  store: Store,
  journal: SessionJournal,
): Promise<void> {
  if (bySeq.size + byOwner.size === 0) return;
  for await (const page of store.readJournal(parent.id)) {
    const steps = page.filter(isStep).flatMap((row) => {
      const owner = bySeq.get(row.seq) ?? byOwner.get(row.attempt as number);
      return owner === undefined ? [] : [ownStep(row, owner)];
    });
    for (let from = 0; from < steps.length; from += rowsAtOnce)
      await journal.append(steps.slice(from, from + rowsAtOnce));
  }
}

function ownStep({ kind, name, fingerprint, occurrence, body }: RecordedRow, attempt: number): Entry {
  return { kind, attempt, name, fingerprint, occurrence, body } as Entry;
}
