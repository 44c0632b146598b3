import { type Amount, add, noAmount } from "../domain/budget.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Entry, ForkOrigin, PaidAmount, RecordedRow, Transition } from "../domain/journal.ts";
import { isStep } from "../domain/journal-codec.ts";
import { filesOf } from "../domain/restored-checkpoint.ts";
import { isAccepted, type SessionState } from "../domain/session-state.ts";
import { totalTokens } from "../domain/usage.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import { readState } from "../state/session-journal.ts";
import type { Store } from "../state/store.ts";
import { ancestorsOf, orderPhases } from "./definition/order.ts";
import type { PhaseDefinition, TeamDefinition } from "./definition/team-definition.ts";
import { unknownPhase } from "./selection.ts";

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
  for (const name of takenOver(definition, fork)) {
    if (isAccepted(parent.phases.get(name))) continue;
    throw new InputInvalid(`Session ${parent.id} has no accepted result of phase ${name} to take over.`, {
      details: { session: parent.id, phase: name },
      advice: `Fork at ${name} or before, or let the session finish that phase first.`,
    });
  }
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
  const kept = takenOver(definition, fork);
  for (const name of kept) await takeOverPhase(name, fork, parent, journal);
  if (!fork.fresh) {
    const later = definition.phases.filter(({ name }) => !kept.includes(name));
    await copySteps(await takeOverPersonas(later, parent, journal), parent, store, journal);
  }
  // The fork points to all that its parent does: whatever its rows name stays when the parent is pruned.
  await journal.append([{ kind: "fork.copied" }], { artifactsOf: parent.id });
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
  const known = parent.phases.get(phase)?.personas.get(persona);
  if (known?.result === undefined || known.input === undefined) return undefined;
  const { result, input, base, tree, checks } = known;
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
  };
}

/** What each persona of the session has cost, by phase and name. */
async function paidBy(store: Store, { id }: SessionState): Promise<ReadonlyMap<string, PaidAmount[]>> {
  const paid = new Map<string, PaidAmount[]>();
  for (let after = 0; ; ) {
    const calls = await store.ledger.calls(id, { after });
    if (calls.length === 0) return paid;
    for (const call of calls) {
      after = call.number;
      if (call.status === "open" || call.usage === null) continue;
      const key = `${call.phase} ${call.persona}`;
      const amount = { model: call.model, tokens: totalTokens(call.usage), microUsd: call.costMicroUsd };
      paid.set(key, [...(paid.get(key) ?? []), amount]);
    }
  }
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
      const row = rowOfPersona(phase, persona, parent, sumByModel(paid.get(`${phase} ${persona}`) ?? []));
      if (row === undefined) continue;
      const [written] = await journal.append([row]);
      const { attempts = [], candidate } = parent.phases.get(phase)?.personas.get(persona) ?? {};
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
