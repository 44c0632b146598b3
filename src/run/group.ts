import type { CheckResult } from "../domain/contract.ts";
import { toErrorJson } from "../domain/error-json.ts";
import {
  BudgetExceeded,
  CircuitOpen,
  ContractUnfulfilled,
  EffectUnknown,
  HelpNeeded,
  MaestroError,
  SetupFailed,
} from "../domain/errors.ts";
import { redactError } from "../domain/redact.ts";
import { decideAfterFailure } from "../journal/after-failure.ts";
import type { Transition } from "../journal/journal.ts";
import { personaOf, phaseOf, type Reopened, type SessionState, wasGiven } from "../journal/session-state.ts";
import type { PersonaDefinition, PhaseDefinition } from "../team/definition/team-definition.ts";
import { type Conflict, describeConflict } from "../workspace/conflict.ts";
import { DriverStopped } from "./control.ts";
import type { Drive, TeamDrive } from "./drive.ts";
import { withMaxAttempts } from "./persona-executor.ts";
import { type PersonaWork, workFor } from "./persona-work.ts";
import { Slots } from "./rest.ts";
import { runWithSafety } from "./safety-retry.ts";
import type { MergedTree, SessionTrees, TreeRef } from "./trees.ts";
import { refuseUnfulfilled } from "./validate.ts";

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

/** A persona whose work does not fit the work of the others, and the reason. */
interface Misfit {
  readonly persona: PersonaDefinition;
  readonly error: Error;
  readonly clashing: readonly string[];
}

/**
 * Runs the members in parallel, then merges their files in the order of declaration. A member whose changes clash, or whose
 * checks fail on the merged files, gets another attempt there; the others stay completed. Members that clash run one by
 * one: in parallel, none would see the changes of the others, and they would clash again.
 */
export async function runGroup(phase: PhaseDefinition, group: Group, drive: TeamDrive): Promise<GroupEnd> {
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
  drive: TeamDrive,
): Promise<void> {
  const works = members.map((persona) => () => workFor(phase, persona, startOf(persona), drive));
  await runTogether(drive, works, drive.team.definition.parallel);
}

interface Merging {
  readonly merged: MergedTree;
  /** The first member whose changes clash. Its other changes are merged. */
  readonly clash?: Misfit;
  /** The members after it. */
  readonly unmerged: readonly string[];
}

/** Merged work stays merged. Only members that were sent back since, or are not merged yet, are added. */
async function mergeMembers(
  phase: PhaseDefinition,
  { number, members, unmerged, start }: Group,
  { journal, trees }: TeamDrive,
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
    // The phase began with the given files.
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
  drive: TeamDrive,
): Promise<{
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
  readonly failed: readonly Misfit[];
}> {
  const checks = new Map<string, readonly CheckResult[]>();
  const failed: Misfit[] = [];
  for (const persona of members.filter(hasContract)) {
    const results = await checkPersona(phase, persona, merged, drive);
    checks.set(persona.name, results);
    // No persona made the given files, so none runs again for them. The gate judges them.
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

/** Its checks passed on its own files. They run again only if the merged files differ. */
export async function checkPersona(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  merged: Pick<MergedTree, "tree">,
  { journal, checks, control, trees }: TeamDrive,
): Promise<readonly CheckResult[]> {
  const state = personaOf(journal.state, phase.name, persona.name);
  // The persona sees the output of a check, so the check gets only the files that the persona may read.
  const seen = await trees.readable(persona, merged.tree);
  if (state.tree === seen.tree && state.checks.length > 0) return state.checks;
  const { contract } = persona;
  const tree = await trees.load(seen.tree);
  const results = await checks.judgeFiles(contract, tree, state.result?.outputs ?? {});
  for (const check of contract.checks) {
    control.throwIfStopped();
    results.push(await checks.run(check, tree, control.signal));
  }
  return results;
}

/** One commit for all misfits: the merged files hold only the changes that fit. */
async function reopen(
  phase: PhaseDefinition,
  { number }: Group,
  misfits: readonly Misfit[],
  merged: MergedTree,
  unmerged: readonly string[],
  drive: TeamDrive,
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

/** Counts as a failed attempt and is decided like any other, but without a wait. */
async function nextAttempt(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  error: Error,
  { journal, clock, policies }: TeamDrive,
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
  // A reused persona has no attempt in this session yet.
  const of = { started: last?.started ?? 0, phase: phase.name, persona: persona.name };
  return { ...of, failure: { ...failure, error: redactError(toErrorJson(error)) }, next };
}

/** Resolves to undefined when the persona has nothing left to do. */
export type Member = () => Promise<PersonaWork | undefined>;

/** Runs personas in parallel. A failure does not stop the others, and their finished work stays finished. */
export async function runTogether(drive: Drive, members: readonly Member[], limit: number): Promise<void> {
  const failures: unknown[] = [];
  const slots = new Slots(limit);
  const run = async (work: Member): Promise<void> => {
    await slots.take();
    try {
      await drive.rest.join(slots, async (waiter) => {
        const given = await work();
        if (given !== undefined) await runWithSafety({ ...drive, waiter }, given);
      });
    } catch (error) {
      failures.push(error);
    } finally {
      slots.give();
    }
  };
  await Promise.all(members.map(run));
  if (failures.length > 0) throw mostSevere(failures);
}

/**
 * The most severe failure decides, not the first: one that ends the session or the process outranks a need for help, and
 * that outranks a lack of money or time. The error names every persona that needs help.
 */
function mostSevere(failures: readonly unknown[]): unknown {
  const [worst] = failures.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (EffectUnknown.is(worst)) return allUnknown(failures.filter((error) => EffectUnknown.is(error)));
  return HelpNeeded.is(worst) ? allNeedHelp(failures.filter((error) => HelpNeeded.is(error))) : worst;
}

/** One error for all effects whose outcomes are unknown. Each gets its own ticket. */
function allUnknown(errors: readonly EffectUnknown[]): EffectUnknown | undefined {
  const [first, ...more] = errors;
  if (first === undefined || more.length === 0) return first;
  return new EffectUnknown(errors.map(({ message }) => message).join(" "), {
    details: { effects: errors.length, needs: errors.map(toErrorJson) },
  });
}

/** One error for all personas that need help. Each gets its own ticket. */
function allNeedHelp(errors: readonly HelpNeeded[]): HelpNeeded | undefined {
  const [first, ...more] = errors;
  if (first === undefined || more.length === 0) return first;
  return new HelpNeeded(
    `${errors.length} personas need help. ${errors.map(({ message }) => message).join(" ")}`,
    {
      // The count comes first, because a very long list is cut.
      details: { personas: errors.length, needs: errors.map(toErrorJson) },
      advice: first.actions,
    },
  );
}

function rankOf(error: unknown): number {
  if (error instanceof DriverStopped && error.reason === "ask") return 6;
  if (CircuitOpen.is(error)) return 5;
  if (SetupFailed.is(error) || BudgetExceeded.is(error)) return 4;
  if (HelpNeeded.is(error)) return 3;
  // Before help: a resume that grants new rounds must find no effect of unknown outcome.
  if (EffectUnknown.is(error)) return 2;
  return MaestroError.is(error) && error.next === "fail" ? 1 : 0;
}
