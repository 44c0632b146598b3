import { decideAfterFailure } from "../domain/after-failure.ts";
import type { CheckResult } from "../domain/contract.ts";
import { toErrorJson } from "../domain/error-json.ts";
import { ContractUnfulfilled } from "../domain/errors.ts";
import { wasGiven } from "../domain/from-outside.ts";
import type { Transition } from "../domain/journal.ts";
import { personaOf, phaseOf, type Reopened } from "../domain/session-state.ts";
import type { ExecutorParts } from "../execution/persona-executor.ts";
import { refuseUnfulfilled } from "../execution/validate.ts";
import { type Conflict, describeConflict } from "../workspace/conflict.ts";
import { runTogether } from "./coordinator.ts";
import type { PersonaDefinition, PhaseDefinition } from "./definition/team-definition.ts";
import type { MergedTree, SessionTrees, TreeRef } from "./trees.ts";
import type { WorkOf } from "./work.ts";

export interface GroupParts {
  readonly parts: (persona: PersonaDefinition) => ExecutorParts;
  readonly trees: SessionTrees;
  readonly workOf: WorkOf;
  readonly parallel: number;
}

export interface Group {
  readonly number: number;
  readonly members: readonly PersonaDefinition[];
  /** Those whose files are not in `start` yet. */
  readonly unmerged: readonly PersonaDefinition[];
  /** The files that are merged already. */
  readonly start: TreeRef;
  /** The files that a member found when it first began. */
  readonly startOf: (member: PersonaDefinition) => TreeRef;
}

export interface GroupEnd extends MergedTree {
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
}

/** Whose work does not fit that of the others, and why. */
interface Misfit {
  readonly persona: PersonaDefinition;
  readonly error: Error;
  readonly clashing: readonly string[];
}

/**
 * Members at once, then their files together, in the order of declaration. Whose work does not fit what the others
 * did, or no longer passes its own checks there, gets another attempt on the merged files; the others stay done. Who
 * clash are asked one by one: at once, each would work on files without the answers of the others, and clash again.
 */
export async function runGroup(phase: PhaseDefinition, group: Group, parts: GroupParts): Promise<GroupEnd> {
  for (;;) {
    await runMembers(phase, group, parts);
    const { merged, clash, unmerged } = await mergeMembers(phase, group, parts);
    if (clash !== undefined) {
      await reopen(phase, group, [clash], merged, unmerged, parts);
      continue;
    }
    const { checks, failed } = await checkTogether(phase, group.members, merged, parts);
    if (failed.length === 0) return { ...merged, checks };
    await reopen(phase, group, failed, merged, [], parts);
  }
}

async function runMembers(
  phase: PhaseDefinition,
  { members, startOf }: Group,
  { parts, workOf, parallel }: GroupParts,
): Promise<void> {
  const works = members.map((persona) => ({
    parts: parts(persona),
    work: () => workOf(phase, persona, startOf(persona)),
  }));
  await runTogether(works, parallel);
}

interface Merging {
  readonly merged: MergedTree;
  /** The first whose work does not fit, if any; what fits of it is merged. */
  readonly clash?: Misfit;
  /** Those after it. */
  readonly unmerged: readonly string[];
}

/** What was merged before stays merged: who was sent back since then has something to add, and those whose turn is not yet. */
async function mergeMembers(
  phase: PhaseDefinition,
  { number, members, unmerged, start }: Group,
  { parts, trees }: GroupParts,
): Promise<Merging> {
  const stateOf = (persona: PersonaDefinition) =>
    personaOf(parts(persona).journal.state, phase.name, persona.name);
  const reopenedOf = (persona: PersonaDefinition) => {
    const { reopened } = stateOf(persona);
    return reopened?.group === number ? reopened : undefined;
  };
  const latest = members
    .flatMap((persona) => reopenedOf(persona) ?? [])
    .reduce<Reopened | undefined>((one, other) => (other.at > (one?.at ?? 0) ? other : one), undefined);
  const isNew = (persona: PersonaDefinition) => {
    const reopened = reopenedOf(persona);
    const isSentBack = reopened !== undefined && reopened.merged === latest?.merged;
    return isSentBack || latest?.unmerged.includes(persona.name) === true;
  };
  let merged: MergedTree = {
    tree: latest === undefined ? start : latest.merged,
    conflicts: [],
    artifacts: [],
  };
  const order = latest === undefined ? unmerged : members.filter(isNew);
  for (const [place, persona] of order.entries()) {
    // What was given is what the phase began with.
    if (isGiven(phase, persona, parts(persona))) continue;
    const { base, tree } = stateOf(persona);
    const reopened = reopenedOf(persona);
    const next = await trees.merge(reopened === undefined ? base : reopened.tree, merged, tree);
    merged = { ...next, conflicts: [] };
    if (next.conflicts.length === 0) continue;
    const later = order.slice(place + 1).map(({ name }) => name);
    const others = members.filter(({ name }) => name !== persona.name && !later.includes(name));
    const clash = await clashOf(phase, persona, others, next.conflicts, trees);
    return { merged, clash, unmerged: later };
  }
  return { merged, unmerged: [] };
}

async function clashOf(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  others: readonly PersonaDefinition[],
  conflicts: readonly Conflict[],
  trees: SessionTrees,
): Promise<Misfit> {
  const changed = new Map<string, ReadonlySet<string>>();
  for (const { name } of others) changed.set(name, new Set(await trees.changedBy(phase.name, name)));
  const namesOf = (paths: readonly string[]) =>
    [...changed].flatMap(([name, own]) => (paths.some((path) => own.has(path)) ? [name] : [])).join(", ") ||
    "earlier phases";
  const touched = ({ path, other }: Conflict) => (other === undefined ? [path] : [path, other]);
  const described = conflicts.map((conflict) =>
    describeConflict(conflict, namesOf(touched(conflict)), persona.name),
  );
  const paths = conflicts.map(({ path }) => path);
  const clashing = conflicts.flatMap(touched);
  const error = new ContractUnfulfilled(
    `The changes of ${persona.name} clash with those of ${namesOf(clashing)}: ${paths.join(", ")}`,
    {
      details: { persona: persona.name, paths, list: described.join("\n\n") },
      advice: "Work on the merged files: keep what the others did and add your part.",
    },
  );
  return { persona, error, clashing };
}

/** Who no longer passes its own checks on the files of all. */
async function checkTogether(
  phase: PhaseDefinition,
  members: readonly PersonaDefinition[],
  merged: MergedTree,
  group: GroupParts,
): Promise<{
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
  readonly failed: readonly Misfit[];
}> {
  const checks = new Map<string, readonly CheckResult[]>();
  const failed: Misfit[] = [];
  for (const persona of members.filter(hasContract)) {
    const results = await checkPersona(phase, persona, merged, group);
    checks.set(persona.name, results);
    // Nobody here made what was given, so nobody is asked to make it better; the gate says what it came to.
    if (isGiven(phase, persona, group.parts(persona))) continue;
    try {
      refuseUnfulfilled(persona.name, results);
    } catch (error) {
      failed.push({ persona, error: error as Error, clashing: [] });
    }
  }
  return { checks, failed };
}

function isGiven({ name }: PhaseDefinition, persona: PersonaDefinition, { journal }: ExecutorParts): boolean {
  return wasGiven(phaseOf(journal.state, name), personaOf(journal.state, name, persona.name));
}

export function hasContract({ contract }: PersonaDefinition): boolean {
  return contract.checks.length + contract.deliverables.length > 0 || contract.outputs !== undefined;
}

/** Alone its checks passed on its own files; only where these are not the merged ones do they run again. */
export async function checkPersona(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  merged: Pick<MergedTree, "tree">,
  { parts, trees }: GroupParts,
): Promise<readonly CheckResult[]> {
  const { journal, checks, control } = parts(persona);
  const state = personaOf(journal.state, phase.name, persona.name);
  if (state.tree === merged.tree && state.checks.length > 0) return state.checks;
  const { contract } = persona;
  const tree = await trees.load(merged.tree);
  const results = await checks.judgeFiles(contract, tree, state.result?.outputs ?? {});
  for (const check of contract.checks) {
    control.throwIfStopped();
    results.push(await checks.run(check, tree, control.signal));
  }
  return results;
}

/** One fact, all or none: what is merged holds the work of each of them only as far as it fits. */
async function reopen(
  phase: PhaseDefinition,
  { number }: Group,
  misfits: readonly Misfit[],
  merged: MergedTree,
  unmerged: readonly string[],
  { parts, trees }: GroupParts,
): Promise<void> {
  const [first] = misfits;
  if (first === undefined) return;
  const { journal } = parts(first.persona);
  const rows: Transition[] = [];
  const artifacts = [...merged.artifacts];
  for (const { persona, error, clashing } of misfits) {
    const { tree, base } = await trees.sentBack(phase, persona, merged.tree, clashing);
    artifacts.push(...tree.artifacts, ...base.artifacts);
    rows.push({
      kind: "attempt.reopened",
      ...(await nextAttempt(phase, persona, error, parts(persona))),
      group: number,
      ...(merged.tree !== undefined && { merged: merged.tree }),
      ...(tree.tree !== undefined && { tree: tree.tree }),
      ...(base.tree !== undefined && { base: base.tree }),
      ...(unmerged.length > 0 && { unmerged }),
    });
  }
  await journal.append(rows, { artifacts });
}

/** Counted, with the reason; decided as for any failed attempt, but without a wait. */
async function nextAttempt(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  error: Error,
  { journal, clock, policies }: ExecutorParts,
) {
  const state = personaOf(journal.state, phase.name, persona.name);
  const last = state.attempts.at(-1);
  const { classifyError } = await import("../execution/failure/classify-error.ts");
  const failure = classifyError(error, clock.now());
  const next = decideAfterFailure(
    {
      error,
      failure,
      inStep: false,
      mended: true,
      attemptsFailed: last?.attempt ?? 1,
      roundsUsed: (last?.round ?? 1) - state.roundsUsedBefore,
      now: clock.now(),
      random: Math.random(),
    },
    policies,
  );
  // A reused persona has no attempt here; it starts with its first.
  const of = { started: last?.started ?? 0, phase: phase.name, persona: persona.name };
  return { ...of, failure: { ...failure, error: toErrorJson(error) }, next };
}
