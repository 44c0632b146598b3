import { AsyncLocalStorage } from "node:async_hooks";
import { InputInvalid } from "../domain/errors.ts";
import { sameFile, type TreeChange, type TreeFile } from "../domain/tree.ts";

interface Touched {
  /** The file to restore if the effect fails. */
  before: TreeFile | undefined;
  after: TreeFile | undefined;
  /** Another writer changed the path meanwhile, so equal content may still be a change. */
  isShared: boolean;
}

const untouched: ReadonlyMap<string, Touched> = new Map();
const unchanged: readonly TreeChange[] = [];

/** The changes of one effect and of the effects inside it. */
export class Recording {
  readonly parent: Recording | undefined;
  /** Created by the first change, because most effects touch no file. */
  #touched: Map<string, Touched> | undefined;
  isOver = false;
  /** Steps were requested inside it. */
  hasSteps = false;

  constructor(parent: Recording | undefined) {
    this.parent = parent;
  }

  get touched(): ReadonlyMap<string, Touched> {
    return this.#touched ?? untouched;
  }

  changes(): readonly TreeChange[] {
    if (this.#touched === undefined) return unchanged;
    const kept = [...this.#touched].filter(
      ([, { before, after, isShared }]) => isShared || !sameFile(before, after),
    );
    return kept
      .map(([path, { after }]) => (after === undefined ? { path } : { path, after }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** It has ended, or an enclosing effect has ended and was recorded without it. */
  get isLate(): boolean {
    return this.isOver || this.parent?.isLate === true;
  }

  isWithin(other: Recording): boolean {
    return this === other || this.parent?.isWithin(other) === true;
  }

  own(path: string, before: TreeFile | undefined, after: TreeFile | undefined): void {
    this.#touched ??= new Map();
    const touched = this.#touched.get(path);
    if (touched === undefined) this.#touched.set(path, { before, after, isShared: false });
    else touched.after = after;
  }

  foreign(path: string, after: TreeFile | undefined): void {
    const touched = this.#touched?.get(path);
    if (touched === undefined) return;
    touched.isShared = true;
    touched.before = after;
  }
}

/** Effects may run concurrently. Each change belongs to the effect whose call made it. */
export class Recordings {
  readonly #context = new AsyncLocalStorage<Recording>();
  readonly #open: Recording[] = [];
  readonly #undo: (recording: Recording) => void;

  constructor(undo: (recording: Recording) => void) {
    this.#undo = undo;
  }

  /** Returns the changes of the effect. If it fails they are undone, because a replay of the failure lacks them. */
  async record<T>(
    effect: (recording: Recording) => T | Promise<T>,
  ): Promise<{ readonly result: T; readonly changes: readonly TreeChange[] }> {
    const recording = new Recording(this.current);
    this.#open.push(recording);
    try {
      const result = await this.#context.run(recording, () => effect(recording));
      this.#end(recording);
      return { result, changes: recording.changes() };
    } catch (error) {
      this.#end(recording);
      // If the enclosing effect was recorded meanwhile, it includes the changes.
      if (recording.parent?.isLate !== true) this.#undo(recording);
      throw error;
    }
  }

  /** Runs the work and refuses every later change by it. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    const recording = new Recording(undefined);
    this.#open.push(recording);
    try {
      return await this.#context.run(recording, work);
    } finally {
      this.#end(recording);
    }
  }

  /** Call this when a step is requested, possibly inside an effect. */
  noteStep(): void {
    const { current } = this;
    if (current !== undefined) current.hasSteps = true;
  }

  #end(recording: Recording): void {
    recording.isOver = true;
    const at = this.#open.lastIndexOf(recording);
    if (at !== -1) this.#open.splice(at, 1);
  }

  get current(): Recording | undefined {
    return this.#context.getStore();
  }

  /** A replay would lose a change that comes after its effect was recorded. */
  refuseLateChange(): void {
    if (this.current?.isLate !== true) return;
    throw new InputInvalid("A file was changed after the step that changes it had ended.", {
      advice: "Await every change of the workspace inside the step.",
    });
  }

  note(path: string, before: TreeFile | undefined, after: TreeFile | undefined): void {
    if (this.#open.length === 0) return;
    const { current } = this;
    for (const recording of this.#open) {
      if (current?.isWithin(recording)) recording.own(path, before, after);
      else recording.foreign(path, after);
    }
  }
}
