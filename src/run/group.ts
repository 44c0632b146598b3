import type { CheckResult } from "../domain/contract.ts";
import { toErrorJson } from "../domain/error-json.ts";
import { ContractUnfulfilled } from "../domain/errors.ts";
import { decideAfterFailure } from "../journal/after-failure.ts";
import { wasGiven } from "../journal/from-outside.ts";
import type { Transition } from "../journal/journal.ts";
import { personaOf, phaseOf, type Reopened, type SessionState } from "../journal/session-state.ts";
import type { SessionFiles } from "../store/session-files.ts";
import type { PersonaDefinition, PhaseDefinition } from "../team/definition/team-definition.ts";
import { type Conflict, describeConflict } from "../workspace/merge.ts";
import { runTogether } from "./coordinator.ts";
import type { Drive } from "./drive.ts";
import { withMaxAttempts } from "./persona-executor.ts";
import type { MergedTree, SessionTrees, TreeRef } from "./trees.ts";
import { refuseUnfulfilled } from "./validate.ts";
import type { WorkOf } from "./work.ts";

/** A drive as the phases of its team see it. */
export interface PhaseDrive extends Drive {
  readonly files: SessionFiles;
  readonly trees: SessionTrees;
  readonly workOf: WorkOf;
  /** How many personas run at once. */
  readonly parallel: number;
}

export interface Group {
  readonly number: number;
  readonly members: readonly PersonaDefinition[];
  /** Members whose files are not in `start` yet. */
  readonly unmerged: readonly PersonaDefinition[];
  /** The files that are merged already. */
  readonly start: TreeRef;
  /** The files that a member found when it first began. */
  readonly startOf: (member: PersonaDefinition) => TreeRef;
}

export interface GroupEnd extends MergedTree {
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
}

/** A persona whose work does not fit that of the others, and why. */
interface Misfit {
  readonly persona: PersonaDefinition;
  readonly error: Error;
  readonly clashing: readonly string[];
}

/**
 * Runs the members at once, then merges their files in the order of declaration. A member whose work does not fit the
 * others, or no longer passes its own checks there, gets another attempt on the merged files; the others stay done.
 * Members that clash are asked one by one: at once, each would work without the answers of the others, and clash again.
 */
export async function runGroup(phase: PhaseDefinition, group: Group, drive: PhaseDrive): Promise<GroupEnd> {
  for (;;) {
    await runMembers(phase, group, drive);
    const { merged, clash, unmerged } = await mergeMembers(phase, group, drive);
    if (clash !== undefined) {
      await reopen(phase, group, [clash], merged, unmerged, drive);
      continue;
    }
    const { checks, failed } = await checkTogether(phase, group.members, merged, drive);
    if (failed.length === 0) return { ...merged, checks };
    await reopen(phase, group, failed, merged, [], drive);
  }
}

async function runMembers(
  phase: PhaseDefinition,
  { members, startOf }: Group,
  drive: PhaseDrive,
): Promise<void> {
  const works = members.map((persona) => () => drive.workOf(phase, persona, startOf(persona)));
  await runTogether(drive, works, drive.parallel);
}

interface Merging {
  readonly merged: MergedTree;
  /** The first member whose work does not fit, if any; the part that fits is merged. */
  readonly clash?: Misfit;
  /** Those after it. */
  readonly unmerged: readonly string[];
}

/** Merged work stays merged: only members that were sent back since then, or did not have their turn, are added. */
async function mergeMembers(
  phase: PhaseDefinition,
  { number, members, unmerged, start }: Group,
  { journal, trees }: PhaseDrive,
): Promise<Merging> {
  const stateOf = (persona: PersonaDefinition) => personaOf(journal.state, phase.name, persona.name);
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
    // Given files are the ones that the phase began with.
    if (isGiven(phase, persona, journal.state)) continue;
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

/** The members that no longer pass their own checks on the files of all. */
async function checkTogether(
  phase: PhaseDefinition,
  members: readonly PersonaDefinition[],
  merged: MergedTree,
  drive: PhaseDrive,
): Promise<{
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
  readonly failed: readonly Misfit[];
}> {
  const checks = new Map<string, readonly CheckResult[]>();
  const failed: Misfit[] = [];
  for (const persona of members.filter(hasContract)) {
    const results = await checkPersona(phase, persona, merged, drive);
    checks.set(persona.name, results);
    // No persona made given files, so none is asked to improve them; the gate judges them.
    if (isGiven(phase, persona, drive.journal.state)) continue;
    try {
      refuseUnfulfilled(persona.name, results);
    } catch (error) {
      failed.push({ persona, error: error as Error, clashing: [] });
    }
  }
  return { checks, failed };
}

function isGiven({ name }: PhaseDefinition, persona: PersonaDefinition, state: SessionState): boolean {
  return wasGiven(phaseOf(state, name), personaOf(state, name, persona.name));
}

export function hasContract({ contract }: PersonaDefinition): boolean {
  return contract.checks.length + contract.deliverables.length > 0 || contract.outputs !== undefined;
}

/** Alone its checks passed on its own files; only where these are not the merged ones do they run again. */
export async function checkPersona(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  merged: Pick<MergedTree, "tree">,
  { journal, checks, control, trees }: PhaseDrive,
): Promise<readonly CheckResult[]> {
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

/** One commit for all misfits: the merged files hold only the part of their work that fits. */
async function reopen(
  phase: PhaseDefinition,
  { number }: Group,
  misfits: readonly Misfit[],
  merged: MergedTree,
  unmerged: readonly string[],
  drive: PhaseDrive,
): Promise<void> {
  const { journal, trees } = drive;
  const rows: Transition[] = [];
  const artifacts = [...merged.artifacts];
  for (const { persona, error, clashing } of misfits) {
    const { tree, base } = await trees.sentBack(phase, persona, merged.tree, clashing);
    artifacts.push(...tree.artifacts, ...base.artifacts);
    rows.push({
      kind: "attempt.reopened",
      ...(await nextAttempt(phase, persona, error, drive)),
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
  { journal, clock, policies }: PhaseDrive,
) {
  const state = personaOf(journal.state, phase.name, persona.name);
  const last = state.attempts.at(-1);
  const { classifyError } = await import("./failure/classify-error.ts");
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
    withMaxAttempts(policies, persona.maxAttempts),
  );
  // A reused persona has no attempt here; it starts with its first.
  const of = { started: last?.started ?? 0, phase: phase.name, persona: persona.name };
  return { ...of, failure: { ...failure, error: toErrorJson(error) }, next };
}
