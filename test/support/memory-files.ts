import { matchesGlob } from "node:path";
import { sha256 } from "../../src/domain/canonical.ts";
import { InputInvalid } from "../../src/domain/errors.ts";
import { changesBetween, type Tree, type TreeChange, treeHash, withChanges } from "../../src/domain/tree.ts";
import type { EditSavings, FileEdit, FileMatch, ToolFiles } from "../../src/personas/model/ports.ts";

/** Blobs outlive their process, as in the artifact store. */
export type Blobs = Map<string, string>;

/** The files of a persona, in memory. */
export class MemoryFiles implements ToolFiles {
  readonly stored: Blobs;
  /** A crash would lose these. */
  readonly #fresh: Blobs = new Map();
  tree: Tree = new Map();

  constructor(files: Readonly<Record<string, string>> = {}, stored: Blobs = new Map()) {
    this.stored = stored;
    for (const [path, content] of Object.entries(files)) this.put(path, content);
  }

  get contents(): Record<string, string> {
    return Object.fromEntries([...this.tree.keys()].map((path) => [path, this.text(path)]));
  }

  get hash(): string {
    return treeHash(this.tree);
  }

  readonly recordings = {
    record: async <T>(effect: () => T | Promise<T>): Promise<{ result: T; changes: TreeChange[] }> => {
      const before = this.tree;
      try {
        const result = await effect();
        return { result, changes: changesBetween(before, this.tree) };
      } catch (error) {
        this.tree = before;
        throw error;
      }
    },
  };

  async flush(changes: readonly TreeChange[]): Promise<void> {
    for (const { after } of changes) {
      if (after === undefined) continue;
      this.stored.set(after.sha256, this.#fresh.get(after.sha256) ?? this.stored.get(after.sha256) ?? "");
    }
  }

  reapply(changes: readonly TreeChange[]): void {
    this.tree = withChanges(this.tree, changes);
  }

  async readText(path: string): Promise<string> {
    return this.text(path);
  }

  async write(path: string, content: string): Promise<void> {
    this.put(path, content);
  }

  writeText(path: string, text: string): Promise<void> {
    return this.write(path, text);
  }

  async remove(path: string): Promise<void> {
    this.text(path);
    this.tree = withChanges(this.tree, [{ path }]);
  }

  async move(from: string, to: string): Promise<void> {
    const content = this.text(from);
    if (this.tree.has(to)) throw new InputInvalid(`${to} is there already.`);
    await this.remove(from);
    this.put(to, content);
  }

  async edit(path: string, edits: readonly FileEdit[]): Promise<EditSavings> {
    let text = this.text(path);
    for (const { find, replace, all } of edits) {
      const count = text.split(find).length - 1;
      if (count === 0) throw new InputInvalid(`The passage is not in ${path}.`);
      if (count > 1 && all !== true) throw new InputInvalid(`The passage is ${count} times in ${path}.`);
      text = text.replaceAll(find, () => replace);
    }
    this.put(path, text);
    const editBytes = edits.reduce((sum, { find, replace }) => sum + find.length + replace.length, 0);
    return { rewriteBytes: text.length, editBytes };
  }

  list(glob?: string): string[] {
    return [...this.tree.keys()].filter((path) => glob === undefined || matchesGlob(path, glob)).sort();
  }

  async search(pattern: string, glob?: string): Promise<FileMatch[]> {
    const expression = /^\/(.*)\/$/.exec(pattern)?.[1];
    const found =
      expression === undefined
        ? (line: string) => line.includes(pattern)
        : (line: string) => new RegExp(expression).test(line);
    return this.list(glob)
      .flatMap((path) =>
        this.text(path)
          .split("\n")
          .flatMap((text, index) => (found(text) ? [{ path, line: index + 1, text }] : [])),
      )
      .slice(0, 200);
  }

  protected put(path: string, content: string): void {
    if (path.startsWith("/") || path.includes("..")) throw new InputInvalid(`${path} leaves the project.`);
    const hash = sha256(content);
    this.#fresh.set(hash, content);
    const after = { sha256: hash, bytes: Buffer.byteLength(content), mode: "file" as const };
    this.tree = withChanges(this.tree, [{ path, after }]);
  }

  protected text(path: string): string {
    const file = this.tree.get(path);
    if (file === undefined) throw new InputInvalid(`There is no file ${path}.`);
    return this.#fresh.get(file.sha256) ?? (this.stored.get(file.sha256) as string);
  }
}
