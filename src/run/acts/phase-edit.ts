import { advise } from "../../domain/advice.ts";
import { canonicalJson } from "../../domain/canonical.ts";
import {
  type Check,
  type CheckResult,
  type Contract,
  type GateResult,
  judge,
} from "../../domain/contract.ts";
import { InputInvalid, SessionConflict } from "../../domain/errors.ts";
import { newSessionId } from "../../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Tree } from "../../domain/tree.ts";
import type {
  GivenPhase,
  PersonaChecks,
  PersonaResult,
  PhaseContent,
  Source,
} from "../../journal/journal.ts";
import { emptyState, isFromOutside, phaseOf, type SessionState } from "../../journal/session-state.ts";
import { withPhase } from "../../journal/update.ts";
import type { Blobs } from "../../store/blobs.ts";
import { dependentsOf, orderPhases } from "../../team/definition/order.ts";
import type { PhaseDefinition, TeamDefinition } from "../../team/definition/team-definition.ts";
import { loadTree } from "../../workspace/stored-tree.ts";
import { Workspace } from "../../workspace/workspace.ts";
import { unknownPhase } from "../direction.ts";
import { PersonaInputs } from "../persona-inputs.ts";
import { SessionTrees } from "../trees.ts";
import type { Origin } from "./create-session.ts";

/** A person's replacement for the outputs of a phase, some of its files, or both. */
export interface PhaseEdit {
  /** Of its only persona, or by persona name. */
  readonly outputs?: JsonObject;
  /** By path; null removes the file. */
  readonly files?: Readonly<Record<string, string | Uint8Array | null>>;
  readonly summary?: string;
}

export interface Edited {
  readonly content: PhaseContent;
  readonly artifacts: readonly string[];
}

/** The content of the phase with the edit applied. */
export async function editPhase(
  definition: TeamDefinition,
  state: SessionState,
  name: string,
  edit: PhaseEdit,
  artifacts: Blobs,
): Promise<Edited> {
  const phase = findPhase(definition, name);
  const { personas, tree } = phaseOf(state, name);
  const before = Object.fromEntries(
    phase.personas.flatMap((persona) => {
      const result = personas.get(persona.name)?.result;
      return result === undefined ? [] : [[persona.name, result]];
    }),
  );
  return contentOf(phase, edit, before, await loadTreeOrNone(artifacts, tree), artifacts);
}

/** The phase already has this content. */
export function changesNothing(state: SessionState, { phase: name, results, tree }: PhaseContent): boolean {
  const phase = phaseOf(state, name);
  const known = (persona: string) => phase.personas.get(persona)?.result ?? null;
  const isSame = ([persona, result]: readonly [string, PersonaResult]) =>
    canonicalJson(result as unknown as Json) === canonicalJson(known(persona) as unknown as Json);
  return phase.tree === tree && Object.entries(results).every(isSame);
}

/** The content of a phase given from outside, on top of the files of the phases before it. */
export async function givePhase(
  phase: PhaseDefinition,
  edit: PhaseEdit,
  before: Tree,
  artifacts: Blobs,
): Promise<Edited> {
  const nothing: PersonaResult = { summary: edit.summary ?? "Given from outside.", outputs: {} };
  const results = Object.fromEntries(phase.personas.map((persona) => [persona.name, nothing]));
  return contentOf(phase, edit, results, before, artifacts);
}

/** A phase is edited in place only while no other phase has used it: otherwise the history would contradict itself. */
export function refuseEditInPlace(definition: TeamDefinition, state: SessionState, name: string): void {
  findPhase(definition, name);
  const phase = state.phases.get(name);
  // A phase from outside did not use it.
  const rests = dependentsOf(definition, name).filter((dependent) => {
    const other = state.phases.get(dependent);
    return other !== undefined && other.status !== "pending" && !isFromOutside(other);
  });
  if (phase?.status === "completed" && rests.length === 0) return;
  if (phase?.status !== "completed") {
    throw new SessionConflict(`Phase ${name} has no result to edit yet.`, {
      details: { session: state.id, phase: name },
      advice: "Pass its output with --given when a session starts, or edit it after it has run.",
    });
  }
  throw new SessionConflict(`Phase ${name} cannot be edited: ${rests.join(", ")} already used its result.`, {
    details: { session: state.id, phase: name, rests },
    advice: advise(
      "Edit it in a new session",
      "fork",
      state.id,
      "--at",
      rests[0] ?? "<phase>",
      "--edit",
      `${name}=<file>`,
    ),
  });
}

async function contentOf(
  phase: PhaseDefinition,
  { outputs, files = {}, summary }: PhaseEdit,
  before: Readonly<Record<string, PersonaResult>>,
  tree: Tree,
  artifacts: Blobs,
): Promise<Edited> {
  const results = { ...before };
  for (const [persona, changed] of Object.entries(outputsByPersona(phase, outputs))) {
    results[persona] = { summary: "", ...before[persona], outputs: changed };
  }
  if (summary !== undefined)
    for (const [persona, result] of Object.entries(results)) results[persona] = { ...result, summary };
  const workspace = new Workspace(artifacts, tree);
  for (const [path, content] of Object.entries(files)) {
    if (content === null) await workspace.remove(path);
    else await workspace.write(path, content);
  }
  const content = { phase: phase.name, results, ...(await judgeContent(phase, workspace.tree, results)) };
  if (tree.size === 0 && workspace.tree.size === 0) return { content, artifacts: [] };
  const saved = await workspace.save();
  return { content: { ...content, tree: saved.tree }, artifacts: saved.artifacts };
}

function outputsByPersona(
  phase: PhaseDefinition,
  outputs: JsonObject | undefined,
): Record<string, JsonObject> {
  if (outputs === undefined) return {};
  const names = phase.personas.map(({ name }) => name);
  const [only, ...others] = names;
  const keys = Object.keys(outputs);
  const byName =
    keys.length > 0 && keys.every((key) => names.includes(key) && isJsonObject(outputs[key] ?? null));
  if (byName) return outputs as Record<string, JsonObject>;
  if (only !== undefined && others.length === 0) return { [only]: outputs };
  throw new InputInvalid(
    `Phase ${phase.name} has ${names.length} personas, and the outputs are not grouped by persona.`,
    {
      advice: `Group them by persona: {"outputs": {"${only}": {...}}}. The personas are: ${names.join(", ")}.`,
    },
  );
}

function findPhase(definition: TeamDefinition, name: string): PhaseDefinition {
  const phase = definition.phases.find((candidate) => candidate.name === name);
  if (phase === undefined) throw unknownPhase(name, orderPhases(definition));
  return phase;
}

async function loadTreeOrNone(artifacts: Blobs, tree: string | undefined): Promise<Tree> {
  return tree === undefined ? new Map() : loadTree(artifacts, tree);
}

/** All phases given from outside, each on top of the files of its dependencies. */
export async function giveAll(
  definition: TeamDefinition,
  given: Readonly<Record<string, (PhaseEdit & { readonly origin?: string }) | undefined>>,
  artifacts: Blobs,
  source?: Source,
): Promise<Origin> {
  const gifts = new Map(Object.entries(given).filter(([, gift]) => gift !== undefined));
  if (gifts.size === 0) return {};
  const order = orderPhases(definition);
  for (const name of gifts.keys()) if (!order.includes(name)) throw unknownPhase(name, order);
  const byName = new Map(definition.phases.map((phase) => [phase.name, phase]));
  // An imagined session in which no persona has worked: a phase that is not given passes its files on unchanged.
  const empty = emptyState(newSessionId());
  const created = { ...empty.created, ...(source !== undefined && { source }) };
  const session = { state: { ...empty, created } };
  const trees = new SessionTrees(artifacts, definition, session, new PersonaInputs(definition, session));
  const phases: GivenPhase[] = [];
  const kept: string[] = [];
  for (const name of order) {
    const phase = byName.get(name);
    if (phase === undefined) continue;
    const { tree: base, artifacts: merged } = await trees.before(phase);
    session.state = withPhase(session.state, name, { base, tree: base });
    const gift = gifts.get(name);
    if (gift === undefined) continue;
    const { content, artifacts: stored } = await givePhase(phase, gift, await trees.load(base), artifacts);
    session.state = withPhase(session.state, name, { tree: content.tree });
    phases.push({ ...content, ...(base !== undefined && { base }), origin: gift.origin ?? "given" });
    kept.push(...merged, ...stored);
  }
  return { given: phases, artifacts: kept };
}

export interface JudgedContent {
  readonly gate?: GateResult;
  readonly checks?: readonly PersonaChecks[];
}

/**
 * Judges given or edited content by the contracts of the phase: files and outputs. Commands do not run here. They count
 * against the score, so that the best verdict of a phase with commands is `unverified`.
 */
export async function judgeContent(
  { personas, gate }: PhaseDefinition,
  tree: Tree,
  results: Readonly<Record<string, PersonaResult>>,
): Promise<JudgedContent> {
  const checks: PersonaChecks[] = [];
  for (const { name, contract } of personas) {
    const judged = [
      ...(await judgeFiles(contract, tree, results[name])),
      ...contract.checks.map((check) => notRun(check)),
    ];
    if (judged.length > 0) checks.push({ persona: name, results: judged });
  }
  const all = checks.flatMap((persona) => persona.results);
  if (all.length === 0 && gate === null) return {};
  const judged = judge(
    all.filter(({ kind }) => kind !== "command"),
    gate?.threshold,
  );
  const isWhole = all.every(({ kind }) => kind !== "command");
  const verdict = judged.verdict === "passed" && !isWhole ? "unverified" : judged.verdict;
  return { gate: { ...judge(all, gate?.threshold), verdict }, ...(checks.length > 0 && { checks }) };
}

async function judgeFiles(
  { deliverables, outputs: schema }: Contract,
  tree: Tree,
  result: PersonaResult | undefined,
): Promise<CheckResult[]> {
  if (deliverables.length === 0 && schema === undefined) return [];
  const { judgeDeliverable, judgeOutputs } = await import("../../workspace/checks.ts");
  const judged: CheckResult[] = deliverables.map((deliverable) => judgeDeliverable(deliverable, tree));
  if (schema !== undefined) judged.push(judgeOutputs(schema, { ...result?.outputs }));
  return judged;
}

const notRun = ({ name, must, weight }: Check): CheckResult => ({
  kind: "command",
  name,
  status: "not-run",
  must,
  weight,
  message: "Commands do not run on given or edited content.",
  failures: [],
});
