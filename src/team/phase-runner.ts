import type { CheckResult } from "../domain/contract.ts";
import { judge } from "../domain/contract.ts";
import type { PersonaChecks } from "../domain/journal.ts";
import { phaseOf } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { projectPhase } from "../state/checkpoint.ts";
import { partsOf } from "../state/project-again.ts";
import type { SessionFiles } from "../state/session-files.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import { groupsOf } from "./definition/order.ts";
import type { PersonaDefinition, PhaseDefinition } from "./definition/team-definition.ts";
import { checkPersona, type Group, type GroupParts, hasContract, runGroup } from "./group.ts";
import type { Clash, TreeRef } from "./trees.ts";

export interface PhaseParts extends GroupParts {
  readonly journal: SessionJournal;
  readonly files: SessionFiles;
  readonly artifacts: Artifacts;
}

/** Idempotent: what the journal knows as done is not done again. */
export async function runPhase(phase: PhaseDefinition, parts: PhaseParts): Promise<void> {
  const { journal, trees } = parts;
  const state = phaseOf(journal.state, phase.name);
  if (state.status === "pending") {
    const before = await trees.before(phase);
    const { tree } = before;
    const given = await trees.withGiven(phase.name, tree);
    const clashes = [...before.clashes, ...given.clashes];
    const artifacts = [...before.artifacts, ...given.artifacts];
    const row = {
      kind: "phase.started",
      phase: phase.name,
      ...(tree !== undefined && { tree }),
      ...(clashes.length > 0 && { clashes: clashes.map(({ text }) => text) }),
    } as const;
    const decisions = clashes.map((clash) => whichVersion(phase, clash, firstStays));
    await journal.append([row, ...decisions], { artifacts });
  }
  if (state.status === "running") await work(phase, parts);
  if (state.checkpoint === undefined) await sealPhase(phase.name, parts);
}

async function work(phase: PhaseDefinition, parts: PhaseParts): Promise<void> {
  const { journal } = parts;
  const known = new Map<string, readonly CheckResult[]>();
  const made = await mergeGroups(phase, known, parts);
  const { tree, artifacts, clashes } = await parts.trees.withEdit(phase.name, made);
  const checks = await judgePhase(phase, tree, known, parts);
  const results = checks.flatMap((persona) => persona.results);
  const gate =
    results.length === 0 && phase.gate === null ? undefined : judge(results, phase.gate?.threshold);
  const failed = gate?.verdict === "failed" && phase.gate?.onFail === "review";
  // Where versions clash, one of them is gone unless somebody looks.
  const clashed = clashes.length > 0 || phaseOf(journal.state, phase.name).clashes.length > 0;
  const asked = clashed || phase.review || journal.state.direction.pauseAfter?.includes(phase.name) === true;
  const edit = { ...(made !== undefined && { base: made }), ...(tree !== undefined && { tree }) };
  const completed = {
    kind: "phase.completed",
    phase: phase.name,
    ...(tree !== undefined && { tree }),
    ...(made !== tree && { edit }),
    ...(gate !== undefined && { gate }),
    ...(checks.length > 0 && { checks }),
    ...((failed || asked) && { awaitsReview: true as const }),
  } as const;
  const decisions = clashes.map((clash) => whichVersion(phase, clash, workStays));
  await journal.append([...decisions, completed], { artifacts });
}

/** Group after group, each on the files of the ones before it; and once more all, if a later one broke an earlier. */
async function mergeGroups(
  phase: PhaseDefinition,
  known: Map<string, readonly CheckResult[]>,
  parts: PhaseParts,
): Promise<TreeRef> {
  const { journal } = parts;
  const state = phaseOf(journal.state, phase.name);
  const groups = groupsOf(phase);
  const starts = new Map<string, TreeRef>();
  const startOf = ({ name }: PersonaDefinition) => starts.get(name);
  const run = async (group: Group, isWorthARow: (end: TreeRef) => boolean): Promise<TreeRef> => {
    if (state.groups.has(group.number)) return state.groups.get(group.number);
    const end = await runGroup(phase, group, parts);
    for (const [persona, results] of end.checks) known.set(`${persona} ${end.tree}`, results);
    if (isWorthARow(end.tree)) {
      const merged = end.tree === undefined ? {} : { tree: end.tree };
      const row = { kind: "group.merged", phase: phase.name, group: group.number, ...merged } as const;
      await journal.append([row], { artifacts: end.artifacts });
    }
    return end.tree;
  };
  let { tree } = await parts.trees.withGiven(phase.name, state.base);
  for (const [number, members] of groups.entries()) {
    for (const { name } of members) starts.set(name, tree);
    // Nobody would miss the row of a phase without files whose only group is done.
    tree = await run(
      { number, members, unmerged: members, start: tree, startOf },
      (end) => groups.length > 1 || end !== undefined,
    );
  }
  if (groups.length === 1) return tree;
  const start = tree;
  const all = { number: groups.length, members: groups.flat(), unmerged: [], start, startOf };
  return run(all, (end) => end !== start);
}

/** Every check that the phase's contracts declare, on the files as they are in the end. */
async function judgePhase(
  phase: PhaseDefinition,
  tree: TreeRef,
  known: ReadonlyMap<string, readonly CheckResult[]>,
  parts: PhaseParts,
): Promise<PersonaChecks[]> {
  const checks: PersonaChecks[] = [];
  for (const persona of phase.personas) {
    if (!hasContract(persona)) continue;
    const results =
      known.get(`${persona.name} ${tree}`) ?? (await checkPersona(phase, persona, { tree }, parts));
    checks.push({ persona: persona.name, results });
  }
  return checks;
}

/** The row commits first, the file follows: a missing file is projected again, a missing row would be a lie. */
export async function sealPhase(
  phase: string,
  { journal, files, artifacts }: Pick<PhaseParts, "journal" | "files" | "artifacts">,
): Promise<void> {
  const { state, store } = journal;
  const usage = await store.ledger.snapshot(state.id);
  const checkpoint = projectPhase(state, phase, { ...(await partsOf(state, phase, artifacts)), usage });
  const { revision } = checkpoint.content;
  const used = usage.length > 0 ? { usage } : {};
  await journal.append([{ kind: "checkpoint.sealed", phase, revision, sha256: checkpoint.sha256, ...used }]);
  await files.writeCheckpoint(checkpoint);
}

const firstStays = { choice: "the one of the phase that comes first", rejected: ["the later ones"] };
const workStays = { choice: "the one of the personas", rejected: ["the edit"] };

function whichVersion(phase: PhaseDefinition, { path, text }: Clash, choice: typeof firstStays) {
  return {
    kind: "decision.recorded",
    phase: phase.name,
    title: `Which version of ${path}`,
    ...choice,
    reason: text,
  } as const;
}
