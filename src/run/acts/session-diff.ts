import { advise } from "../../domain/advice.ts";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { emptyTree, type Tree } from "../../domain/tree.ts";
import { plannedPhases } from "../../journal/planned.ts";
import type { SessionState } from "../../journal/session-state.ts";
import type { Blobs } from "../../store/blobs.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import type { FileChange } from "../../workspace/repository/diff-trees.ts";
import { loadTree } from "../../workspace/stored-tree.ts";
import { unknownPhase } from "../direction.ts";
import { type FinalTree, finalTree } from "../final-files.ts";
import { installedIn, withoutInstalled } from "../setup/kept-paths.ts";

export interface DiffOptions {
  /** Only what this phase changed. */
  readonly phase?: string;
  /** Only what this persona changed. */
  readonly persona?: string;
  /** Only what this attempt of the persona left, counted from 1. */
  readonly attempt?: number;
  /** Instead of the base: the files of this session, of its same phase where one is named. */
  readonly against?: SessionState;
  /** Counts of lines instead of the lines. */
  readonly stat?: boolean;
}

interface Compared {
  readonly before: Tree;
  readonly after: Tree;
  readonly blobs: Pick<BlobStore, "get">;
}

/** A unified diff of the session's files, as `git apply` takes it. */
export async function sessionDiff(
  state: SessionState,
  artifacts: Blobs,
  options: DiffOptions,
): Promise<Buffer> {
  const { diffTrees } = await import("../../workspace/repository/diff-trees.ts");
  const { before, after, blobs } = await compared(state, artifacts, options);
  return diffTrees(before, after, blobs, options);
}

/** A file that differs, with the hashes of both versions. */
export interface ChangedFile extends FileChange {
  readonly before: string | null;
  readonly after: string | null;
  /** Of the version that is there now; of the other where it was deleted. */
  readonly bytes: number;
}

/** The same as a list of files. */
export async function sessionChanges(
  state: SessionState,
  artifacts: Blobs,
  options: Omit<DiffOptions, "stat">,
): Promise<readonly ChangedFile[]> {
  const { listChanges } = await import("../../workspace/repository/diff-trees.ts");
  const { before, after, blobs } = await compared(state, artifacts, options);
  return (await listChanges(before, after, blobs)).map((change) => {
    const [was, is] = [before.get(change.from ?? change.path), after.get(change.path)];
    return {
      ...change,
      before: was?.sha256 ?? null,
      after: is?.sha256 ?? null,
      bytes: (is ?? was)?.bytes ?? 0,
    };
  });
}

/** As it is delivered: without installed dependencies. */
async function compared(state: SessionState, artifacts: Blobs, options: DiffOptions): Promise<Compared> {
  const { before, after, blobs } = await wholeTrees(state, artifacts, options);
  return { before, after: withoutInstalled(before, after, await installedIn(state, artifacts)), blobs };
}

async function wholeTrees(
  state: SessionState,
  artifacts: Blobs,
  { phase, persona, attempt, against }: DiffOptions,
): Promise<Compared> {
  if (against !== undefined) {
    refuseUnknownNames(state, phase, undefined);
    if ((persona ?? attempt) !== undefined)
      throw new InputInvalid("A persona's changes cannot be compared with another session.", {
        advice: "Compare whole sessions, or a phase of both.",
      });
    return twoSessions(state, against, artifacts, phase);
  }
  const load = (ref: string | undefined): Promise<Tree> | Tree =>
    ref === undefined ? emptyTree : loadTree(artifacts, ref);
  refuseUnknownNames(state, phase, persona);
  if (phase === undefined && persona === undefined) {
    if (attempt !== undefined)
      throw new InputInvalid("An attempt belongs to a persona.", { advice: "Name the persona as well." });
    const { tree, blobs } = await finalTree(state, artifacts);
    return { before: await load(state.created.source?.tree), after: tree, blobs };
  }
  const { base, tree } =
    persona === undefined ? phaseFiles(state, phase) : personaFiles(state, phase, persona, attempt);
  return { before: await load(base), after: await load(tree), blobs: artifacts };
}

async function twoSessions(
  state: SessionState,
  against: SessionState,
  artifacts: Blobs,
  phase: string | undefined,
): Promise<Compared> {
  const filesOf = async (one: SessionState): Promise<FinalTree> => {
    if (phase === undefined) return finalTree(one, artifacts);
    const { tree } = phaseFiles(one, phase);
    return { tree: tree === undefined ? emptyTree : await loadTree(artifacts, tree), blobs: artifacts };
  };
  const [before, after] = [await filesOf(against), await filesOf(state)];
  // Texts that were merged for this query are in one of the two only.
  const get = (hash: string) => before.blobs.get(hash).catch(() => after.blobs.get(hash));
  return { before: before.tree, after: after.tree, blobs: { get } };
}

/** "No files yet" would say that such a phase or persona is still to come. */
function refuseUnknownNames(
  { created, phases }: SessionState,
  phase: string | undefined,
  persona: string | undefined,
): void {
  const planned = plannedPhases(created.definition);
  const known = planned.map(({ name }) => name);
  if (phase !== undefined && !phases.has(phase) && !known.includes(phase)) throw unknownPhase(phase, known);
  if (persona === undefined) return;
  const homes = planned.filter(({ name }) => (phase ?? name) === name);
  const personas = [...new Set(homes.flatMap((home) => home.personas.map(({ name }) => name)))];
  if (personas.includes(persona)) return;
  if ([...phases].some(([name, { personas }]) => (phase ?? name) === name && personas.has(persona))) return;
  const where = phase === undefined ? "" : ` in phase ${phase}`;
  throw new InputInvalid(`There is no persona "${persona}"${where}.${didYouMean(persona, personas)}`, {
    details: { persona, known: personas },
    advice: `The personas are: ${personas.join(", ")}.`,
  });
}

interface Files {
  readonly base?: string | undefined;
  readonly tree?: string | undefined;
}

function phaseFiles(state: SessionState, name = ""): Files {
  const phase = state.phases.get(name);
  if (phase?.status !== "completed") throw nothingYet(state, `Phase ${name}`);
  return phase;
}

function personaFiles(state: SessionState, phase: string | undefined, name: string, attempt?: number): Files {
  const homes = [...state.phases].filter(
    ([home, { personas }]) => (phase ?? home) === home && personas.has(name),
  );
  if (homes.length > 1)
    throw new InputInvalid(`${name} works in ${homes.map(([home]) => home).join(", ")}.`, {
      advice: "Name the phase as well.",
    });
  const persona = homes[0]?.[1].personas.get(name);
  if (persona === undefined) throw nothingYet(state, `Persona ${name}`);
  if (attempt === undefined) return persona;
  const tried = persona.attempts[attempt - 1];
  if (tried === undefined) throw nothingYet(state, `Attempt ${attempt} of ${name}`);
  return { base: persona.base, tree: tried.tree };
}

const nothingYet = ({ id }: SessionState, what: string): InputInvalid =>
  new InputInvalid(`${what} of session ${id} has no files yet.`, {
    advice: advise("See how far it is", "show", id),
    details: { session: id },
  });
