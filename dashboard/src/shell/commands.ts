import { useEffect, useId } from "react";
import { Store } from "../live/store.ts";

/** Something the command box offers. Like keys, commands open things and never spend. */
export interface Command {
  readonly name: string;
  readonly keys?: string;
  readonly run: () => void;
}

const byOwner = new Map<string, readonly Command[]>();
export const commands = new Store<readonly Command[]>([]);

/** What the present page can do. */
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
