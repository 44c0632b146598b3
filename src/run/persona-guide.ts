import { fingerprint } from "../domain/canonical.ts";
import type { Json } from "../domain/json.ts";
import type { Tree } from "../domain/tree.ts";
import { linkedPath } from "../domain/tree-path.ts";
import type { Source } from "../journal/journal.ts";
import {
  type ContextFile,
  type ContextText,
  type GivenFile,
  type Guidance,
  type Guide,
  notesFile,
} from "../personas/guidance.ts";
import type { ReadSkill } from "../personas/model/ports.ts";
import { skillReader } from "../personas/tools/read-skill.ts";
import type { PersonaDefinition } from "../team/definition/team-definition.ts";
import type { BlobStore } from "../workspace/blobs.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { decodeText } from "../workspace/text.ts";
import { infrastructureFailed } from "./control.ts";
import { hiddenFrom } from "./read-rules.ts";

/** Longer notes are cut: the file itself has the rest. */
const notesBytes = 32 * 1024;
const mostBelow = 20;

/**
 * The texts that a persona gets besides its instructions and its brief. They are fixed when the session begins: the team's
 * files by their hashes, and the notes of the repository by the files that the session began with, so that no persona can
 * give orders to the next ones by writing them.
 */
export class PersonaGuide implements Guide {
  readonly readSkill: ReadSkill;
  readonly skillsHash: string | undefined;
  readonly #persona: PersonaDefinition;
  readonly #source: Source | undefined;
  readonly #blobs: BlobStore;

  constructor(persona: PersonaDefinition, source: Source | undefined, blobs: BlobStore) {
    this.#persona = persona;
    this.#source = source;
    this.#blobs = blobs;
    const { skills = [] } = persona;
    this.readSkill = skillReader(skills, (hash) => this.#read(hash));
    this.skillsHash = skills.length === 0 ? undefined : fingerprint(skills as unknown as Json);
  }

  readonly guidance = async (): Promise<Guidance> => {
    const { skills = [], context = [] } = this.#persona;
    const given = context.filter((file): file is GivenFile => "sha256" in file);
    const texts = await Promise.all(
      given.map(async ({ path, sha256 }) => ({ path, text: (await this.#read(sha256)).toString() })),
    );
    return {
      skills: skills.map(({ name, description }) => ({ name, description })),
      context: texts,
      ...(await this.#notes(this.#persona.context, new Set(given.map(({ sha256 }) => sha256)))),
    };
  };

  get folders(): Tree {
    const { skills = [] } = this.#persona;
    return new Map(
      skills.flatMap(({ name, files }) =>
        files.map(({ path, sha256, bytes }) => [`${name}/${path}`, { sha256, bytes, mode: "file" }] as const),
      ),
    );
  }

  /** `known`: what the team gives already is not told twice. */
  async #notes(
    context: readonly ContextFile[] | undefined,
    known: ReadonlySet<string>,
  ): Promise<Pick<Guidance, "repository" | "below">> {
    const source = this.#source;
    if (source === undefined || context?.length === 0) return { repository: [], below: [] };
    const tree = await loadTree(this.#blobs, source.tree).catch(infrastructureFailed);
    const whyHidden = hiddenFrom(this.#persona.policy, source);
    const isShown = (path: string): boolean => whyHidden?.(path) === undefined;
    const below = [...tree.keys()].filter((path) => path.endsWith(`/${notesFile}`) && isShown(path));
    const found = await this.#noteOf(tree, isShown, known);
    return {
      repository: found === undefined ? [] : [found],
      below: below.toSorted().slice(0, mostBelow),
    };
  }

  /** A link to another file of the repository is followed once, as in `AGENTS.md -> CLAUDE.md`. */
  async #noteOf(
    tree: Tree,
    isShown: (path: string) => boolean,
    known: ReadonlySet<string>,
  ): Promise<ContextText | undefined> {
    const first = tree.get(notesFile);
    const target =
      first?.mode === "link" ? linkedPath(notesFile, (await this.#read(first.sha256)).toString()) : undefined;
    const path = target ?? notesFile;
    const file = target === undefined ? first : tree.get(target);
    if (file === undefined || file.mode === "link" || known.has(file.sha256)) return undefined;
    if (!isShown(notesFile) || !isShown(path)) return undefined;
    const content = await this.#read(file.sha256);
    // Not in the middle of a character.
    const text =
      content.length <= notesBytes
        ? decodeText(content)
        : new TextDecoder().decode(content.subarray(0, notesBytes), { stream: true });
    if (text === undefined || text.includes("\0")) return undefined;
    const isCut = content.length > notesBytes;
    return { path, text: isCut ? `${text}\n[cut after ${notesBytes} of ${content.length} bytes]` : text };
  }

  async #read(hash: string): Promise<Buffer> {
    return this.#blobs.get(hash).catch(infrastructureFailed);
  }
}
