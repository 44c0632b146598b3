import type { Tree } from "../domain/tree.ts";
import type { ReadSkill } from "./model/ports.ts";

/** A file beside the team, as the definition records it. Its content is an artifact of the session. */
export interface GivenFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** A folder with instructions for one kind of work. Its text is read when the work needs it. */
export interface SkillDefinition {
  readonly name: string;
  readonly description: string;
  readonly files: readonly GivenFile[];
}

/** A text that a persona begins with. Without a hash it is a file of the session's repository. */
export type ContextFile = GivenFile | { readonly path: string };

export interface ContextText {
  readonly path: string;
  readonly text: string;
}

/** The texts that a persona gets besides its instructions and its brief. */
export interface Guidance {
  readonly skills: readonly Pick<SkillDefinition, "name" | "description">[];
  /** Texts of the team. */
  readonly context: readonly ContextText[];
  /** The notes for agents that the repository has: data, like all of its files. */
  readonly repository: readonly ContextText[];
  /** Paths of such notes in folders below. */
  readonly below: readonly string[];
}

/** The guidance of one persona in one session. */
export interface Guide {
  readonly guidance: () => Promise<Guidance>;
  readonly readSkill: ReadSkill;
  /** Of all skills with their files; undefined without skills. */
  readonly skillsHash: string | undefined;
  /** The skills as files, each in a folder of its name, for an agent that has no tools of Maestro. */
  readonly folders: Tree;
}

/** The file in which a skill says when and how it is used. */
export const skillFile = "SKILL.md";
/** The file in which a repository tells agents how it is built, tested and written. */
export const notesFile = "AGENTS.md";
