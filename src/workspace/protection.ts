import { canonicalJson } from "../domain/canonical.ts";
import { InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";
import type { ProtectedChange } from "../domain/put-back.ts";
import { changesBetween, PathIndex, sameFile, type Tree, type TreeChange } from "../domain/tree.ts";
import { isInstalled, showPath } from "../domain/tree-path.ts";
import type { BlobStore } from "./blobs.ts";
import { namedMatcher, namedMatchers } from "./named-files.ts";
import type { Workspace } from "./workspace.ts";

/** The rules for one persona. */
export interface ProtectionRules {
  /** The deliverables of personas of earlier phases. */
  readonly delivered: readonly {
    readonly phase: string;
    readonly persona: string;
    readonly files: readonly string[];
  }[];
  /** Its own deliverables. */
  readonly delivers: readonly (readonly string[])[];
  /** The team's `protect`. */
  readonly protect: readonly string[];
  /** Files that may not be created either. */
  readonly settings: readonly string[];
  /** For each setup, the files that decide what it installs. */
  readonly inputs: readonly (readonly string[])[];
  /** Whether they may be made where they are missing. */
  readonly mayMakeInputs: boolean;
  readonly mayChange: readonly string[];
  /** Why a path that it does not see may not be written; undefined if it may. */
  readonly whyHidden: (path: string) => string | undefined;
}

type Matcher = (path: string) => boolean;
type ProtectedMember = readonly [member: string, why: string];
type Files = Pick<Workspace, "tree" | "read">;

const installed =
  "node_modules holds installed packages: it is not delivered, so that what is written there must not count";

/** Finds a persona's forbidden changes and reverts them. */
export class Protection {
  readonly #base: Tree;
  readonly #found: Tree;
  readonly #blobs: Pick<BlobStore, "get">;
  readonly #delivered: readonly (readonly [why: string, matches: Matcher])[];
  readonly #delivers: Matcher;
  readonly #protected: NamedOrMembers;
  readonly #settings: NamedOrMembers;
  readonly #inputs: readonly Matcher[];
  readonly #mayMakeInputs: boolean;
  readonly #mayChange: NamedOrMembers;
  readonly #whyHidden: ProtectionRules["whyHidden"];

  /**
   * `base`: files that earlier phases delivered or a person gave. Only these are protected. `found`: the files that
   * the persona sees. Changes are reverted to these, because they include parallel work by a persona with
   * `mayChange`.
   */
  constructor(base: Tree, found: Tree, rules: ProtectionRules, blobs: Pick<BlobStore, "get">) {
    this.#base = base;
    this.#found = found;
    this.#blobs = blobs;
    this.#delivered = rules.delivered.map(({ phase, persona, files }) => [
      `${persona} delivers it in phase ${phase}`,
      namedMatcher(files),
    ]);
    const own = rules.delivers.map(namedMatcher);
    this.#delivers = (path) => own.some((matches) => matches(path));
    this.#protected = new NamedOrMembers(rules.protect);
    this.#settings = new NamedOrMembers(rules.settings);
    this.#inputs = rules.inputs.map(namedMatcher);
    this.#mayMakeInputs = rules.mayMakeInputs;
    this.#mayChange = new NamedOrMembers(rules.mayChange);
    this.#whyHidden = rules.whyHidden;
  }

  /** Why the whole file may not be changed; undefined if at least part of it may. */
  whyWhole(path: string): string | undefined {
    if (isInstalled(path)) return installed;
    const hidden = this.#whyHidden(path);
    if (hidden !== undefined) return hidden;
    if (this.#mayChange.fileGlob(path) !== undefined) return undefined;
    if (!this.#base.has(path)) return this.#whyNew(path);
    const delivered = this.#delivered.find(([, matches]) => matches(path));
    if (delivered !== undefined && !this.#delivers(path)) return delivered[0];
    const glob = this.#protected.fileGlob(path);
    if (glob !== undefined) return because(glob);
    return this.#isInput(path) && !isManifest(path) ? decidesInstall : undefined;
  }

  #whyNew(path: string): string | undefined {
    if (this.#delivers(path)) return undefined;
    const glob = this.#settings.fileGlob(path);
    if (glob === undefined)
      return !this.#mayMakeInputs && this.#isInput(path) && !isManifest(path) ? decidesInstall : undefined;
    return `it matches ${showPath(glob)}: such settings decide what a check runs, and the repository has none there`;
  }

  #isInput(path: string): boolean {
    return this.#inputs.some((matches) => matches(path));
  }

  /** Throws for the first forbidden change since `before`, with a message for the model that made it. */
  async refuse(files: Files, before: Tree): Promise<void> {
    const found = this.#foundSince(before);
    for (const { path } of changesBetween(before, files.tree)) {
      const [refused] = (await this.#forbidden(path, files, found)).changes;
      if (refused === undefined) continue;
      throw new InputInvalid(`${refused.path} was not changed: ${refused.why}.`, {
        advice: isInstalled(path)
          ? "Declare the package in package.json, or write the code into a file of the project."
          : "Leave it as it is and change other files. If it must change, say so in your summary: the team can allow it with mayChange.",
        details: { path },
      });
    }
  }

  /** Reverts every forbidden change and nothing else. Packages that a healer installed before `since` stay. */
  async putBack(workspace: Workspace, since: Tree): Promise<readonly ProtectedChange[]> {
    const found = this.#foundSince(since);
    const put: ProtectedChange[] = [];
    const whole: string[] = [];
    for (const { path } of changesBetween(found, workspace.tree)) {
      const { changes, members } = await this.#forbidden(path, workspace, found);
      put.push(...changes);
      if (members !== undefined) await workspace.write(path, withMembers(members));
      else if (changes.length > 0) whole.push(path);
    }
    if (whole.length === 0) return put;
    const { changes, inTheWay } = restoring(whole, found, workspace.tree);
    workspace.reapply(changes);
    return [...put, ...inTheWay].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** `members`: after these members are reverted, the rest of the file may stay. */
  async #forbidden(path: string, files: Files, foundFiles: Tree): Promise<Forbidden> {
    const why = this.whyWhole(path);
    if (why !== undefined)
      return sameFile(foundFiles.get(path), files.tree.get(path)) ? nothing : whole(path, why);
    const names = this.#protectedMembers(path);
    if (names.length === 0) return nothing;
    const base = this.#base.has(path) ? await this.#object(path, this.#base) : {};
    const found = foundFiles.has(path) ? await this.#object(path, foundFiles) : {};
    const [first] = names as [ProtectedMember];
    if (base === undefined || found === undefined)
      return sameFile(foundFiles.get(path), files.tree.get(path)) ? nothing : unreadable(path, first);
    if (!files.tree.has(path)) {
      const lost = names.find(([name]) => memberOf(found, name) !== undefined);
      return lost === undefined ? nothing : unreadable(path, lost);
    }
    const text = (await files.read(path)).toString();
    const now = readObject(text);
    if (now === undefined) return unreadable(path, first);
    const changed = names.filter(([name]) => textOf(memberOf(now, name)) !== textOf(memberOf(found, name)));
    if (changed.length === 0) return nothing;
    return {
      changes: changed.map(([name, why]) => ({ path: `${path}#${name}`, why })),
      members: { text, now, found, names: changed.map(([name]) => name) },
    };
  }

  #foundSince(since: Tree): Tree {
    const isFree = (tree: Tree) => ![...tree.keys()].some(isInstalled);
    if (isFree(this.#found) && isFree(since)) return this.#found;
    return new Map([
      ...[...this.#found].filter(([path]) => !isInstalled(path)),
      ...[...since].filter(([path]) => isInstalled(path)),
    ]);
  }

  #protectedMembers(path: string): readonly ProtectedMember[] {
    if (this.#mayChange.fileGlob(path) !== undefined) return [];
    const byTeam = this.#base.has(path) ? this.#protected.membersOf(path) : [];
    const members = byTeam.map(([member, glob]) => [member, because(glob)] as const);
    const lifted = this.#mayChange.membersOf(path).map(([member]) => member);
    return [...members, ...this.#inputMembers(path)].filter(([member]) => !lifted.includes(member));
  }

  #inputMembers(path: string): readonly ProtectedMember[] {
    if (!isManifest(path) || !this.#isInput(path)) return [];
    if (!this.#base.has(path) && (this.#mayMakeInputs || this.#delivers(path))) return [];
    return dependencyMembers.map((member) => [member, decidesInstall] as const);
  }

  async #object(path: string, tree: Tree): Promise<JsonObject | undefined> {
    const file = tree.get(path);
    return file && readObject((await this.#blobs.get(file.sha256)).toString());
  }
}

interface Members {
  readonly text: string;
  readonly now: JsonObject;
  readonly found: JsonObject;
  readonly names: readonly string[];
}

interface Forbidden {
  readonly changes: readonly ProtectedChange[];
  readonly members?: Members;
}

const nothing: Forbidden = { changes: [] };
const whole = (path: string, why: string): Forbidden => ({ changes: [{ path, why }] });
const unreadable = (path: string, [name, why]: ProtectedMember): Forbidden =>
  whole(path, `${why}, and its member "${name}" cannot be read`);
const because = (glob: string): string => `it matches ${showPath(glob)}, which the team protects`;

const decidesInstall = "it decides what the setup installs";

/** The members of a package.json that determine it. The rest, such as its version, may change. */
const dependencyMembers = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "dependenciesMeta",
  "bundleDependencies",
  "bundledDependencies",
  "overrides",
  "resolutions",
  "pnpm",
  "workspaces",
  "packageManager",
];
const isManifest = (path: string): boolean => path === "package.json" || path.endsWith("/package.json");

/** Globs of files, and of members of JSON files: `package.json#scripts`. */
class NamedOrMembers {
  readonly #files: ReadonlyMap<string, Matcher>;
  readonly #members: readonly (readonly [member: string, matchers: ReadonlyMap<string, Matcher>])[];

  constructor(named: readonly string[]) {
    const parts = named.map((one) => one.split("#") as [glob: string, member?: string]);
    this.#files = namedMatchers(parts.flatMap(([glob, member]) => (member === undefined ? [glob] : [])));
    const members = new Set(parts.flatMap(([, member]) => member ?? []));
    this.#members = [...members].map((name) => [
      name,
      namedMatchers(parts.flatMap(([glob, member]) => (member === name ? [glob] : []))),
    ]);
  }

  fileGlob(path: string): string | undefined {
    return matching(this.#files, path);
  }

  membersOf(path: string): readonly (readonly [member: string, glob: string])[] {
    return this.#members.flatMap(([member, matchers]) => {
      const glob = matching(matchers, path);
      return glob === undefined ? [] : [[member, `${glob}#${member}`] as const];
    });
  }
}

const matching = (matchers: ReadonlyMap<string, Matcher>, path: string): string | undefined =>
  [...matchers].find(([, matches]) => matches(path))?.[0];

const byteOrderMark = "\uFEFF";

/** Package managers skip a byte order mark, so this does too. */
function readObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(withoutMark(text));
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (InputInvalid.is(error)) return undefined;
    throw error;
  }
}

const withoutMark = (text: string): string => (text.startsWith(byteOrderMark) ? text.slice(1) : text);

const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const textOf = (value: Json | undefined): string => (value === undefined ? "" : canonicalJson(value));

/** The file with these members reverted, in its own indentation. */
function withMembers({ text, now, found, names }: Members): string {
  const restored: Record<string, Json> = { ...now };
  for (const name of names) {
    const before = memberOf(found, name);
    if (before === undefined) delete restored[name];
    else restored[name] = before;
  }
  const indent = /^[{[]\s*\n([ \t]+)/.exec(withoutMark(text))?.[1] ?? 2;
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  return `${mark}${JSON.stringify(restored, null, indent)}\n`;
}

/** The changes that restore these paths. New files in place of a folder, or the reverse, must be removed. */
function restoring(
  paths: readonly string[],
  found: Tree,
  now: Tree,
): { readonly changes: readonly TreeChange[]; readonly inTheWay: readonly ProtectedChange[] } {
  const left = new Set(now.keys());
  const index = new PathIndex(left);
  const changes: TreeChange[] = [];
  const inTheWay: ProtectedChange[] = [];
  const remove = (path: string) => {
    left.delete(path);
    index.remove(path);
    changes.push({ path });
  };
  for (const path of paths) if (left.has(path)) remove(path);
  for (const path of paths) {
    const file = found.get(path);
    if (file === undefined) continue;
    for (let clash = index.clash(path); clash !== undefined; clash = index.clash(path)) {
      const { other } = clash;
      for (const one of [...left].filter((each) => each === other || each.startsWith(`${other}/`))) {
        remove(one);
        inTheWay.push({ path: one, why: `it is in the way of ${path}` });
      }
    }
    left.add(path);
    index.add(path);
    changes.push({ path, after: file });
  }
  return { changes, inTheWay };
}
