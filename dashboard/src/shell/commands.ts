import { useEffect, useId } from "react";
import { Store } from "../live/store.ts";

/** A command of the command box. Like keys, commands open things and never spend money. */
export interface Command {
  readonly name: string;
  readonly keys?: string;
  readonly run: () => void;
}

const byOwner = new Map<string, readonly Command[]>();
export const commands = new Store<readonly Command[]>([]);

/** Registers the commands of the current page. */
export function useCommands(list: readonly Command[]): void {
  const owner = useId();
  useEffect(() => {
    byOwner.set(owner, list);
    commands.set([...byOwner.values()].flat());
    return () => {
      byOwner.delete(owner);
      commands.set([...byOwner.values()].flat());
    };
  }, [owner, list]);
}

/** The open panel. Any page, key or command may open one; only one is open. */
type OpenPanel = "none" | "start" | "commands" | "help";

export const openPanel = new Store<OpenPanel>("none");

/** Matches the search terms in any order. Names that start with the first one come first. */
export function matchCommands<Item extends { readonly name: string }>(
  items: readonly Item[],
  text: string,
): readonly Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  const matching = items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const rank = ({ name }: Item) => (name.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
  return [...matching].sort((a, b) => rank(a) - rank(b));
}
