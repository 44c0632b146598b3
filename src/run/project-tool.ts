import type { Workspace } from "../workspace/workspace.ts";
import type { CommandPlace } from "./command-place.ts";

const limits = { timeoutMs: 120_000, maxOutputBytes: 256 * 1024 };

export type RunTool = (
  workspace: Workspace,
  argv: readonly string[],
  signal: AbortSignal,
) => Promise<{ readonly exitCode: number | null }>;

/** Runs one of the project's own tools on a copy of the files, in the sandbox, and takes over what it changed. */
export function toolRunner(place: CommandPlace, stateDirectory: string, sandboxRequired?: boolean): RunTool {
  return async (workspace, argv, signal) => {
    const { runCommand } = await import("../workspace/command.ts");
    const { result, changes } = await place.inFolder(workspace, (directory) =>
      runCommand({
        argv,
        directory,
        signal,
        ...limits,
        network: false,
        writable: "workspace",
        hidden: [stateDirectory],
        sandboxRequired,
      }),
    );
    if (result.kind !== "exited") return { exitCode: null };
    workspace.reapply(changes);
    return { exitCode: result.code };
  };
}
