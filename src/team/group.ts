import { decideAfterFailure } from "../domain/after-failure.ts";
import type { CheckResult } from "../domain/contract.ts";
import { toErrorJson } from "../domain/error-json.ts";
import { ContractUnfulfilled } from "../domain/errors.ts";
import { personaOf } from "../domain/session-state.ts";
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

export interface GroupEnd extends MergedTree {
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
}

/**
 * Members at once, then their files together, in the order of declaration. Whose work does not fit what the others
 * did, or no longer passes its own checks there, gets another attempt on the merged files; the others stay done.
 */
export async function runGroup(
  phase: PhaseDefinition,
  members: readonly PersonaDefinition[],
  start: TreeRef,
  group: GroupParts,
): Promise<GroupEnd> {
  for (;;) {
    await runMembers(phase, members, start, group);
    const merged = await mergeMembers(phase, members, start, group);
    if (merged.kind === "clash") {
      await reopen(phase, merged.persona, merged.error, merged.tree, group);
      continue;
    }
    const atFault = await checkTogether(phase, members, merged, group);
    if (atFault.failed.length === 0) return { ...merged, checks: atFault.checks };
    for (const { persona, error } of atFault.failed) await reopen(phase, persona, error, merged, group);
  }
}

async function runMembers(
  phase: PhaseDefinition,
  members: readonly PersonaDefinition[],
  start: TreeRef,
  { parts, workOf, parallel }: GroupParts,
): Promise<void> {
  const works = members.map((persona) => ({
    parts: parts(persona),
    work: () => workOf(phase, persona, start),
  }));
  await runTogether(works, parallel);
}

type Merge =
  | ({ readonly kind: "merged" } & MergedTree)
  | {
      readonly kind: "clash";
      readonly persona: PersonaDefinition;
      readonly error: Error;
      readonly tree: MergedTree;
    };

async function mergeMembers(
  phase: PhaseDefinition,
  members: readonly PersonaDefinition[],
  start: TreeRef,
  { parts, trees }: GroupParts,
): Promise<Merge> {
  let merged: MergedTree = { tree: start, conflicts: [], artifacts: [] };
  const before: string[] = [];
  const stateOf = (persona: PersonaDefinition) =>
    personaOf(parts(persona).journal.state, phase.name, persona.name);
  // Who was sent back worked on the files of the others, so its changes go on top of theirs.
  const order = members.toSorted((a, b) => stateOf(a).reopenedAt - stateOf(b).reopenedAt);
  for (const persona of order) {
    const { base, tree } = stateOf(persona);
    const next = await trees.merge(base, merged, tree);
    if (next.conflicts.length > 0) {
      const error = clash(persona, before, next.conflicts);
      return { kind: "clash", persona, error, tree: { ...next, conflicts: [] } };
    }
    merged = next;
    before.push(persona.name);
  }
  return { kind: "merged", ...merged };
}

function clash(persona: PersonaDefinition, before: readonly string[], conflicts: readonly Conflict[]): Error {
  const others = before.join(", ");
  const described = conflicts
    .map((conflict) => describeConflict(conflict, others, persona.name))
    .join("\n\n");
  return new ContractUnfulfilled(
    `The changes of ${persona.name} clash with those of ${others}: ${conflicts.map(({ path }) => path).join(", ")}`,
    {
      details: { persona: persona.name, paths: conflicts.map(({ path }) => path), list: described },
      advice: "Work on the merged files: keep what the others did and add your part.",
    },
  );
}

/** Who no longer passes its own checks on the files of all. */
async function checkTogether(
  phase: PhaseDefinition,
  members: readonly PersonaDefinition[],
  merged: MergedTree,
  group: GroupParts,
): Promise<{
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
  readonly failed: readonly { readonly persona: PersonaDefinition; readonly error: Error }[];
}> {
  const checks = new Map<string, readonly CheckResult[]>();
  const failed: { persona: PersonaDefinition; error: Error }[] = [];
  for (const persona of members.filter(hasContract)) {
    const results = await checkPersona(phase, persona, merged, group);
    checks.set(persona.name, results);
    try {
      refuseUnfulfilled(persona.name, results);
    } catch (error) {
      failed.push({ persona, error: error as Error });
    }
  }
  return { checks, failed };
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

/** A counted attempt on the merged files, with the reason; decided as for any failed attempt, but without a wait. */
async function reopen(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  error: Error,
  merged: MergedTree,
  { parts }: GroupParts,
): Promise<void> {
  const { journal, clock, policies } = parts(persona);
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
  const of = { started: last?.started ?? 0, phase: phase.name, persona: persona.name };
  const recorded = { ...failure, error: toErrorJson(error) };
  // A reused persona has no attempt here; it starts with its first.
  await journal.append(
    [
      {
        kind: "attempt.reopened",
        ...of,
        failure: recorded,
        next,
        ...(merged.tree !== undefined && { tree: merged.tree }),
      },
    ],
    { artifacts: merged.artifacts },
  );
}
