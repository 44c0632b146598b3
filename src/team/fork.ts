import { type Amount, add, noAmount } from "../domain/budget.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Entry, ForkOrigin, PaidAmount, RecordedRow, Transition } from "../domain/journal.ts";
import { isStep } from "../domain/journal-codec.ts";
import type { Message } from "../domain/message.ts";
import { filesOf } from "../domain/restored-checkpoint.ts";
import { isAccepted, type SessionState } from "../domain/session-state.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import { readState } from "../state/session-journal.ts";
import type { Store } from "../state/store.ts";
import { ancestorsOf, dependentsOf, orderPhases } from "./definition/order.ts";
import type { PhaseDefinition, TeamDefinition } from "./definition/team-definition.ts";
import { paidCalls } from "./paid-calls.ts";
import { unknownPhase } from "./selection.ts";

type BudgetMessage = Extract<Message, { readonly say: "budget" }>;

/** Rows of one append while a fork is made: a long history in bounded bites. */
const rowsAtOnce = 200;

/** Phases that a fork takes over as they are: everything that the phase it starts at rests on, and the edited ones. */
export function takenOver(definition: TeamDefinition, { at, edited }: ForkOrigin): readonly string[] {
  const order = orderPhases(definition);
  if (!order.includes(at)) throw unknownPhase(at, order);
  const kept = new Set([...ancestorsOf(definition, at), ...edited.map(({ phase }) => phase)]);
  return order.filter((name) => kept.has(name));
}

/** What can be refused is refused before the fork exists. */
export function checkFork(definition: TeamDefinition, parent: SessionState, fork: ForkOrigin): void {
  const kept = takenOver(definition, fork);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  for (const name of kept) refuseContradiction(definition, name, { parent, fork, kept, edited });
  for (const name of kept) {
    if (isAccepted(parent.phases.get(name))) continue;
    throw new InputInvalid(`Session ${parent.id} has no accepted result of phase ${name} to take over.`, {
      details: { session: parent.id, phase: name },
      advice: `Fork at ${name} or before, or let the session finish that phase first.`,
    });
  }
}

/** A phase is taken over only if all it rests on is as it was: an edit under it would be without effect. */
function refuseContradiction(
  definition: TeamDefinition,
  name: string,
  {
    parent: { id },
    fork: { at },
    kept,
    edited,
  }: {
    readonly parent: SessionState;
    readonly fork: ForkOrigin;
    readonly kept: readonly string[];
    readonly edited: ReadonlySet<string>;
  },
): void {
  const before = ancestorsOf(definition, name);
  const changed = before.find((other) => edited.has(other));
  if (changed !== undefined)
    throw new InputInvalid(
      `Phase ${name} rests on ${changed}, which is edited, and would be taken over as it was.`,
      {
        details: { session: id, at, phase: name, edited: changed },
        advice: `Let it run again: maestro fork ${id} --at ${name} --edit ${changed}=<file>`,
      },
    );
  const anew = before.find((other) => !kept.includes(other));
  if (anew === undefined) return;
  const [after] = dependentsOf(definition, name);
  throw new InputInvalid(`Phase ${name} is edited and rests on ${anew}, which would run again under it.`, {
    details: { session: id, at, phase: name },
    advice:
      after === undefined
        ? `Nothing rests on ${name}; edit it where it is: maestro resume ${id} --edit ${name}=<file>`
        : `Fork behind it: maestro fork ${id} --at ${after} --edit ${name}=<file>`,
  });
}

/**
 * Makes everything a fork may use its own, so that its parent can be pruned: the phases before it, what a person
 * edited, and for every later persona its result and its recorded steps. Interrupted, it is simply done again.
 */
export async function copyFromParent(
  store: Store,
  journal: SessionJournal,
  definition: TeamDefinition,
): Promise<void> {
  const { fork } = journal.state.created;
  if (fork === undefined || journal.state.copied) return;
  const parent = await readState(store, fork.session as SessionState["id"]);
  await takeOverLimits(parent, journal);
  const kept = takenOver(definition, fork);
  for (const name of kept) await takeOverPhase(name, fork, parent, journal);
  if (!fork.fresh) {
    const later = definition.phases.filter(({ name }) => !kept.includes(name));
    await copySteps(await takeOverPersonas(later, parent, journal), parent, store, journal);
  }
  // The fork points to all that its parent does: whatever its rows name stays when the parent is pruned.
  await journal.append([{ kind: "fork.copied" }], { artifactsOf: parent.id });
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
  if (journal.state.phases.get(name)?.status === "completed") return;
  await journal.append(rowsOfPhase(name, fork, parent), { artifactsOf: parent.id });
}

/** A phase as the parent left it, and then as a person edited it. */
export function rowsOfPhase(name: string, fork: ForkOrigin, parent: SessionState): Transition[] {
  const phase = parent.phases.get(name);
  const personas = [...(phase?.personas ?? [])];
  const edited = fork.edited.find((edit) => edit.phase === name);
  return [
    {
      kind: "phase.inherited",
      phase: name,
      results: Object.fromEntries(
        personas.flatMap(([persona, { result }]) => (result === undefined ? [] : [[persona, result]])),
      ),
      ...(phase?.base !== undefined && { base: phase.base }),
      ...(phase?.tree !== undefined && { tree: phase.tree }),
      revision: phase?.revision ?? 1,
      personas: Object.fromEntries(personas.map(([persona, known]) => [persona, filesOf(known)])),
      ...(phase?.edit !== undefined && { edit: phase.edit }),
      ...(phase?.gate !== undefined && { gate: phase.gate }),
      ...(phase?.checks !== undefined && phase.checks.length > 0 && { checks: phase.checks }),
      ...(phase !== undefined && phase.notes.length > 0 && { notes: phase.notes }),
      ...(phase?.source.kind === "given" && { origin: phase.source.origin }),
    },
    ...(edited === undefined ? [] : [{ kind: "phase.edited", ...edited } as const]),
  ];
}

/** What the parent knows of a persona, if it came to something. */
export function rowOfPersona(
  phase: string,
  persona: string,
  parent: SessionState,
  spent: readonly PaidAmount[] = [],
): Transition | undefined {
  const { personas, notes = [], edit } = parent.phases.get(phase) ?? {};
  const known = personas?.get(persona);
  // A fork that has not come so far still knows what its own parent knew.
  const {
    result,
    input,
    base,
    tree,
    checks = [],
  } = (known?.result === undefined && known?.candidate) || known || {};
  if (result === undefined || input === undefined) return undefined;
  return {
    kind: "persona.inherited",
    phase,
    persona,
    input,
    result,
    ...(base !== undefined && { base }),
    ...(tree !== undefined && { tree }),
    ...(checks.length > 0 && { checks }),
    ...(spent.length > 0 && { spent }),
    ...(notes.length > 0 && { notes }),
    ...(edit !== undefined && { edit }),
  };
}

/** What each persona of the session has cost, by phase and name. */
async function paidBy(store: Store, { id }: SessionState): Promise<ReadonlyMap<string, PaidAmount[]>> {
  const paid = new Map<string, PaidAmount[]>();
  for await (const { phase, persona, model, spent } of paidCalls(store, id)) {
    const amounts = paid.get(`${phase} ${persona}`) ?? [];
    amounts.push({ model, ...spent });
    paid.set(`${phase} ${persona}`, amounts);
  }
  return paid;
}

/** Gives, for each attempt of the parent, the row of the fork that its steps now belong to. */
async function takeOverPersonas(
  phases: readonly PhaseDefinition[],
  parent: SessionState,
  journal: SessionJournal,
): Promise<ReadonlyMap<number, number>> {
  const owners = new Map<number, number>();
  const paid = await paidBy(journal.store, parent);
  for (const { name: phase, personas } of phases) {
    for (const { name: persona } of personas) {
      const { attempts = [], candidate } = parent.phases.get(phase)?.personas.get(persona) ?? {};
      const spent = [...(candidate?.spent ?? []), ...(paid.get(`${phase} ${persona}`) ?? [])];
      const row = rowOfPersona(phase, persona, parent, sumByModel(spent));
      if (row === undefined) continue;
      const [written] = await journal.append([row]);
      for (const { started } of attempts) owners.set(started, written?.seq ?? 0);
      // What the parent itself took over from its own parent has no attempt here: its steps are found by its row.
      for (const [seq, steps] of parent.inheritedSteps)
        if (candidate?.steps === steps) owners.set(seq, written?.seq ?? 0);
    }
  }
  return owners;
}

function sumByModel(amounts: readonly PaidAmount[]): PaidAmount[] {
  return [...Map.groupBy(amounts, ({ model }) => model)].map(([model, calls]) => {
    const { tokens, microUsd } = calls.reduce<Amount>(add, noAmount);
    return { model, tokens, microUsd };
  });
}

async function copySteps(
  owners: ReadonlyMap<number, number>,
  parent: SessionState,
  store: Store,
  journal: SessionJournal,
): Promise<void> {
  if (owners.size === 0) return;
  for await (const page of store.readJournal(parent.id)) {
    const steps = page.flatMap((row) => {
      const owner = isStep(row) ? owners.get(row.attempt as number) : undefined;
      return owner === undefined ? [] : [ownStep(row, owner)];
    });
    for (let from = 0; from < steps.length; from += rowsAtOnce)
      await journal.append(steps.slice(from, from + rowsAtOnce));
  }
}

function ownStep({ kind, name, fingerprint, occurrence, body }: RecordedRow, attempt: number): Entry {
  return { kind, attempt, name, fingerprint, occurrence, body } as Entry;
}
