/** The parts of a key press that shortcuts use. */
export interface Press {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** In a field, where letters are text. */
  readonly typing: boolean;
  readonly at: number;
}

interface SequenceState {
  /** "g" was pressed: the next letter selects the page. */
  readonly prefix: string | undefined;
  readonly at: number;
}

export const noSequence: SequenceState = { prefix: undefined, at: 0 };

const prefixes = new Set(["g"]);
const sequenceMs = 1200;

interface SequenceStep {
  readonly state: SequenceState;
  /** The shortcut's name: "n", "g s", "mod+k"; undefined for any other key. */
  readonly shortcut: string | undefined;
}

/** Ctrl or Command with K always counts. Single keys count only outside of fields and while they are enabled. */
export function readPress(state: SequenceState, press: Press, singleKeys: boolean): SequenceStep {
  const none = { state: noSequence, shortcut: undefined };
  const { key } = press;
  if (press.ctrlKey || press.metaKey)
    return key.toLowerCase() === "k" && !press.altKey ? { ...none, shortcut: "mod+k" } : none;
  if (press.altKey || press.typing) return none;
  if (key === "Escape") return { ...none, shortcut: "Escape" };
  if (!singleKeys || key.length !== 1) return none;
  if (state.prefix !== undefined && press.at - state.at <= sequenceMs)
    return { ...none, shortcut: `${state.prefix} ${key}` };
  if (prefixes.has(key)) return { state: { prefix: key, at: press.at }, shortcut: undefined };
  return { ...none, shortcut: key };
}
