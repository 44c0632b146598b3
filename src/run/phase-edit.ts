import { advise } from "../domain/advice.ts";
import { canonicalJson } from "../domain/canonical.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import { isFromOutside } from "../journal/from-outside.ts";
import type { PersonaResult, PhaseContent } from "../journal/journal.ts";
import { phaseOf, type SessionState } from "../journal/session-state.ts";
import type { Artifacts } from "../store/artifacts.ts";
import { dependentsOf, orderPhases } from "../team/definition/order.ts";
import type { PhaseDefinition, TeamDefinition } from "../team/definition/team-definition.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { Workspace } from "../workspace/workspace.ts";
import { judgeContent } from "./judge-content.ts";
import { unknownPhase } from "./selection.ts";

/** What a person puts in the place of what a phase left: its outputs, some of its files, or both. */
export interface PhaseEdit {
  /** Of its only persona, or by the names of its personas. */
  readonly outputs?: JsonObject;
  /** By path; null removes the file. */
  readonly files?: Readonly<Record<string, string | Uint8Array | null>>;
  readonly summary?: string;
}

export interface Edited {
  readonly content: PhaseContent;
  readonly artifacts: readonly string[];
}

/** The phase as it is with the edit. */
export async function editPhase(
  definition: TeamDefinition,
  state: SessionState,
  name: string,
  edit: PhaseEdit,
  artifacts: Artifacts,
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

/** The phase is like that already. */
export function changesNothing(state: SessionState, { phase: name, results, tree }: PhaseContent): boolean {
  const phase = phaseOf(state, name);
  const known = (persona: string) => phase.personas.get(persona)?.result ?? null;
  const isSame = ([persona, result]: readonly [string, PersonaResult]) =>
    canonicalJson(result as unknown as Json) === canonicalJson(known(persona) as unknown as Json);
  return phase.tree === tree && Object.entries(results).every(isSame);
}

/** A phase from outside: what it says, on top of the files that the phases before it left. */
export async function givePhase(
  phase: PhaseDefinition,
  edit: PhaseEdit,
  before: Tree,
  artifacts: Artifacts,
): Promise<Edited> {
  const nothing: PersonaResult = { summary: edit.summary ?? "Given from outside.", outputs: {} };
  const results = Object.fromEntries(phase.personas.map((persona) => [persona.name, nothing]));
  return contentOf(phase, edit, results, before, artifacts);
}

/** Only what nothing rests on yet is edited in place; else the history would contradict itself. */
export function refuseEditInPlace(definition: TeamDefinition, state: SessionState, name: string): void {
  findPhase(definition, name);
  const phase = state.phases.get(name);
  // What came from outside rests on nothing that is here.
  const rests = dependentsOf(definition, name).filter((dependent) => {
    const other = state.phases.get(dependent);
    return other !== undefined && other.status !== "pending" && !isFromOutside(other);
  });
  if (phase?.status === "completed" && rests.length === 0) return;
  if (phase?.status !== "completed") {
    throw new SessionConflict(`Phase ${name} has no result yet that could be edited.`, {
      details: { session: state.id, phase: name },
      advice: "Bring it from outside with --given when a session starts, or edit it after it has run.",
    });
  }
  throw new SessionConflict(`Phase ${name} cannot be edited: ${rests.join(", ")} already rests on it.`, {
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
  artifacts: Artifacts,
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
    `Phase ${phase.name} has ${names.length} personas, and the outputs do not say whose they are.`,
    {
      advice: `Give them by persona: {"outputs": {"${only}": {...}}}. The personas are: ${names.join(", ")}.`,
    },
  );
}

function findPhase(definition: TeamDefinition, name: string): PhaseDefinition {
  const phase = definition.phases.find((candidate) => candidate.name === name);
  if (phase === undefined) throw unknownPhase(name, orderPhases(definition));
  return phase;
}

async function loadTreeOrNone(artifacts: Artifacts, tree: string | undefined): Promise<Tree> {
  return tree === undefined ? new Map() : loadTree(artifacts, tree);
}
