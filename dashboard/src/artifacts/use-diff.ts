import { useEffect, useState } from "react";
import type { ComparedLine } from "./diff-lines.ts";
import { diffTexts } from "./text-work.ts";

interface State {
  readonly lines?: readonly ComparedLine[];
  readonly error?: string;
}

export function useDiff(before: string, after: string): State {
  const [state, setState] = useState<State>({});
  useEffect(() => {
    let current = true;
    diffTexts(before, after).then(
      (lines) => current && setState({ lines }),
      (error: unknown) =>
        current && setState({ error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
    };
  }, [before, after]);
  return state;
}
