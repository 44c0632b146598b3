import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { packageVersion } from "../../package-files.ts";
import type { RunningServer } from "../../server/serve.ts";
import { askingForTrust } from "../ask-trust.ts";
import { howStarted } from "../how-started.ts";
import { type LogFlags, startLog } from "../log-flags.ts";
import type { GlobalOptions } from "../open.ts";
import { print, printJson, say, sayNotice } from "../output.ts";
import { loadTeams } from "../served-teams.ts";
import { claimStrayErrors, reportUnclaimed } from "../stray-errors.ts";

/** Shorter than the time supervisors usually wait before they kill. */
const hardStopMs = 9_500;
/** Time for output that is still being written. */
const afterwardsMs = 200;
const interruptedExitCode = 130;

interface ServeFlags extends GlobalOptions, LogFlags {
  readonly port?: string;
  readonly host?: string;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly team?: readonly string[];
  readonly repoRoot?: readonly string[];
  readonly link?: boolean;
}

export async function serve(options: ServeFlags): Promise<void> {
  // The reader of the log may exit first; the server must still stop cleanly.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const loaded = await askingForTrust(() => loadConfig({ flags: flagsOf(options) }), options);
  if (options.link === true) return printNewLink(loaded, options);
  const log = startLog(options);
  await claimStrayErrors(reportUnclaimed);
  const teams = await askingForTrust(() => loadTeams(options.team ?? [], loaded.config.sandbox), options);
  const server = await import("../../server/serve.ts");
  const running = await server.serve({
    loaded,
    teams,
    version: packageVersion(),
    program: howStarted(),
    repoRoots: options.repoRoot ?? [],
    report: sayNotice,
    log,
  });
  const stopped = untilStopped(running);
  const { url, host, port, where } = await running.listen().catch(async (error: unknown) => {
    await running.stop();
    throw error;
  });
  const { stateDirectory } = running.maestro;
  const link = running.dashboardLink();
  if (options.json) printJson({ url, host, port, stateDirectory, dashboard: link, pid: process.pid });
  else {
    print(`Maestro listens on ${where}`);
    print(`Dashboard (this link works once): ${link}`);
    const token =
      loaded.config.server.apiToken === undefined
        ? "The API token is in its file api-token."
        : "The API token is the one that you set.";
    say(`State: ${stateDirectory}. ${token} Ctrl-C stops.`);
  }
  await stopped;
}

const flagsOf = ({ stateDir, port, host, publicUrl, tlsCert, tlsKey, sandbox }: ServeFlags) => ({
  stateDir,
  sandbox,
  "server.port": port,
  "server.host": host,
  "server.publicUrl": publicUrl,
  "server.tlsCert": tlsCert,
  "server.tlsKey": tlsKey,
});

/** Works however the running server was started. */
async function printNewLink({ config }: LoadedConfig, { json }: ServeFlags): Promise<void> {
  const { askForLink } = await import("../../server/serve.ts");
  const link = await askForLink(config);
  if (json) printJson(link);
  else print(`Dashboard (this link works once): ${link.url}`);
}

/**
 * Resolves when everything is closed. Work that takes too long is recovered at the next start. Rejects when the
 * state directory was removed, because the server would then answer from files that no other process sees.
 */
function untilStopped({ maestro, stop }: Pick<RunningServer, "maestro" | "stop">): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopping = false;
    const end = (notice: string, lateExitCode: number): Promise<void> => {
      isStopping = true;
      say(notice);
      const late = setTimeout(() => process.exit(lateExitCode), hardStopMs).unref();
      return stop().finally(() => {
        clearTimeout(late);
        // Work that ignored its abort signal could keep the process alive.
        setTimeout(() => process.exit(), afterwardsMs).unref();
      });
    };
    const onSignal = (): void => {
      if (isStopping) process.exit(interruptedExitCode);
      const notice = "Stopping: current steps finish first. Press Ctrl-C again to stop now.";
      end(notice, 0).then(resolve, reject);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
    maestro.onStateRemoved((error) => {
      if (isStopping) return;
      const refuse = () => reject(error);
      end("Stopping: the state directory was removed or replaced.", error.exitCode).then(refuse, refuse);
    });
  });
}
