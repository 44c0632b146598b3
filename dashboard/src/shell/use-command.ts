import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { statusQuery } from "../api/queries.ts";
import { shellCommand } from "../format/shell-command.ts";

/** Commands to be pasted into a terminal of the server's machine: they find its state. */
export function useCommand(): (...words: Parameters<typeof shellCommand>[0]) => string {
  const stateDirectory = useQuery(statusQuery).data?.stateDirectoryFlag ?? null;
  return useCallback((...words) => shellCommand(words, stateDirectory), [stateDirectory]);
}
