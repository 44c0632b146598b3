import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { statusQuery } from "../api/queries.ts";
import { shellCommand } from "../format/shell-command.ts";

/** Commands to paste into a terminal of the server's machine. They name its state directory if needed. */
export function useCommand(): (...words: Parameters<typeof shellCommand>[0]) => string {
  const stateDirectory = useQuery(statusQuery).data?.stateDirectoryFlag ?? null;
  return useCallback((...words) => shellCommand(words, stateDirectory), [stateDirectory]);
}
