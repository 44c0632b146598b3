import type { CheckResult } from "../domain/contract.ts";
import { judge } from "../domain/contract.ts";
import type { PersonaChecks } from "../journal/journal.ts";
import { phaseOf } from "../journal/session-state.ts";
import { sealPhase } from "../store/seal-phase.ts";
import { groupsOf } from "../team/definition/order.ts";
import type { PersonaDefinition, PhaseDefinition } from "../team/definition/team-definition.ts";
import type { TeamDrive } from "./drive.ts";
import { checkPersona, type Group, hasContract, runGroup } from "./group.ts";
import type { Clash, TreeRef } from "./trees.ts";
import { outputsOf } from "./validate.ts";

/** Idempotent: recorded work is not done again. */
export async function runPhase(phase: PhaseDefinition, drive: TeamDrive): Promise<void> {
  const { journal, trees } = drive;
  const stateNow = () => phaseOf(journal.state, phase.name);
  if (stateNow().status === "pending") {
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
  if (stateNow().status === "running") await work(phase, drive);
  if (stateNow().checkpoint === undefined) await sealPhase(phase.name, drive);
}

async function work(phase: PhaseDefinition, drive: TeamDrive): Promise<void> {
  const { journal } = drive;
  const known = new Map<string, readonly CheckResult[]>();
  const made = await mergeGroups(phase, known, drive);
  const { tree, artifacts, clashes } = await drive.trees.withEdit(phase.name, made);
  const checks = await judgePhase(phase, tree, known, drive);
  const results = checks.flatMap((persona) => persona.results);
  const gate =
    results.length === 0 && phase.gate === null ? undefined : judge(results, phase.gate?.threshold);
  const failed = gate?.verdict === "failed" && phase.gate?.onFail === "review";
  // Where versions clash, one of them is lost unless a person reviews the phase.
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
  await journal.append([...decisions, completed], { artifacts: [...artifacts, ...outputsOf(results)] });
}

/** Runs group after group, each on the files of the groups before. Then all members are checked together. */
async function mergeGroups(
  phase: PhaseDefinition,
  known: Map<string, readonly CheckResult[]>,
  drive: TeamDrive,
): Promise<TreeRef> {
  const { journal } = drive;
  const stateNow = () => phaseOf(journal.state, phase.name);
  const groups = groupsOf(phase);
  const starts = new Map<string, TreeRef>();
  const startOf = ({ name }: PersonaDefinition) => starts.get(name);
  const run = async (group: Group, isWorthARow: (end: TreeRef) => boolean): Promise<TreeRef> => {
    const { groups: merged } = stateNow();
    if (merged.has(group.number)) return merged.get(group.number);
    const end = await runGroup(phase, group, drive);
    for (const [persona, results] of end.checks) known.set(`${persona} ${end.tree}`, results);
    if (isWorthARow(end.tree)) {
      const merged = end.tree === undefined ? {} : { tree: end.tree };
      const row = { kind: "group.merged", phase: phase.name, group: group.number, ...merged } as const;
      await journal.append([row], { artifacts: end.artifacts });
    }
    return end.tree;
  };
  let { tree } = await drive.trees.withGiven(phase.name, stateNow().base);
  for (const [number, members] of groups.entries()) {
    for (const { name } of members) starts.set(name, tree);
    // A phase with one group and without files needs no row for the merge.
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

/** Every check that the phase's contracts declare, on the final files. */
async function judgePhase(
  phase: PhaseDefinition,
  tree: TreeRef,
  known: ReadonlyMap<string, readonly CheckResult[]>,
  drive: TeamDrive,
): Promise<PersonaChecks[]> {
  const checks: PersonaChecks[] = [];
  for (const persona of phase.personas) {
    if (!hasContract(persona)) continue;
    const results =
      known.get(`${persona.name} ${tree}`) ?? (await checkPersona(phase, persona, { tree }, drive));
    checks.push({ persona: persona.name, results });
  }
  return checks;
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
