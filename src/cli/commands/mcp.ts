import { loadConfig } from "../../config/load.ts";
import { packageVersion } from "../../package-files.ts";
import { askingForTrust } from "../ask-trust.ts";
import { howStarted } from "../how-started.ts";
import { type LogFlags, startLog } from "../log-flags.ts";
import type { GlobalOptions } from "../open.ts";
import { sayNotice } from "../output.ts";
import { loadTeams } from "../served-teams.ts";
import { claimStrayErrors, reportUnclaimed } from "../stray-errors.ts";

interface McpFlags extends GlobalOptions, LogFlags {
  readonly team?: readonly string[];
  readonly repoRoot?: readonly string[];
}

/** Standard output belongs to the protocol. */
export async function mcp(options: McpFlags): Promise<void> {
  const { stateDir, sandbox } = options;
  const loaded = await askingForTrust(() => loadConfig({ flags: { stateDir, sandbox } }), options);
  const log = startLog({ logLevel: "warn", ...options });
  await claimStrayErrors(reportUnclaimed);
  const teams = await askingForTrust(() => loadTeams(options.team ?? [], loaded.config.sandbox), options);
  const { serve } = await import("../../server/serve.ts");
  const running = await serve({
    loaded,
    teams,
    version: packageVersion(),
    program: howStarted(),
    repoRoots: options.repoRoot ?? [],
    report: sayNotice,
    log,
  });
  // A client that ends its server by a signal leaves as one that closes standard input.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.stdin.destroy());
  try {
    running.drive();
    await running.serveClient();
  } finally {
    await running.stop();
  }
}
