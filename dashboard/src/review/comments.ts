import { Store, useStore } from "../live/store.ts";

/** A reviewer's comment at one line of a changed file. */
export interface LineComment {
  readonly path: string;
  readonly line: number;
  /** `before`: the line was removed, and the number refers to the old file. */
  readonly side: "before" | "after";
  readonly text: string;
}

/** Comments of every review open in this tab, until it is decided. */
const store = new Store<ReadonlyMap<string, readonly LineComment[]>>(new Map());
const none: readonly LineComment[] = [];

export interface Comments {
  readonly list: readonly LineComment[];
  readonly add: (comment: LineComment) => void;
  readonly remove: (comment: LineComment) => void;
  readonly clear: () => void;
}

/** The comments on one revision of a phase. The view and the rejection dialog share them. */
export function useComments(sessionId: string, phase: string, revision: number): Comments {
  const key = `${sessionId} ${phase} ${revision}`;
  const list = useStore(store).get(key) ?? none;
  const save = (next: readonly LineComment[]) => store.set(new Map(store.get()).set(key, next));
  return {
    list,
    add: (comment) => save([...list, comment].sort(byPlace)),
    remove: (comment) => save(list.filter((each) => each !== comment)),
    clear: () => save([]),
  };
}

const byPlace = (a: LineComment, b: LineComment): number =>
  a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1;

export const placeOf = ({ path, line, side }: Pick<LineComment, "path" | "line" | "side">): string =>
  `${path}:${line}${side === "before" ? " (removed)" : ""}`;

/** The note of a rejection: the person's text, then each comment with its place. */
export function noteWith(note: string, comments: readonly LineComment[]): string {
  const lines = comments.map((comment) => `${placeOf(comment)}: ${comment.text}`);
  return [note.trim(), lines.join("\n")].filter((part) => part !== "").join("\n\n");
}
