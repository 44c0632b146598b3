import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { builtInTeam, loadTeam } from "../../index.ts";
import { packageVersion } from "../../package-files.ts";
import { howStarted } from "../how-started.ts";
import type { GlobalOptions } from "../open.ts";
import { print, printJson, say, sayNotice } from "../output.ts";

/** Less than supervisors usually wait before they kill. */
const hardStopMs = 9_500;
/** For output that is still being written. */
const afterwardsMs = 200;
const interruptedExitCode = 130;

interface ServeFlags extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
  readonly team?: readonly string[];
  readonly link?: boolean;
}

export async function serve(options: ServeFlags): Promise<void> {
  // The reader of the log may exit first; the server must still stop cleanly.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const { stateDir, port, host } = options;
  const loaded = await loadConfig({ flags: { stateDir, "server.port": port, "server.host": host } });
  if (options.link === true) return printNewLink(loaded, options);
  const teams = await loadTeams(options.team ?? []);
  const server = await import("../../server/serve.ts");
  const running = await server.serve({
    loaded,
    teams,
    version: packageVersion(),
    program: howStarted(),
    report: sayNotice,
  });
  const stopped = stopOnSignal(() => running.stop());
  const { url } = await running.listen().catch(async (error: unknown) => {
    await running.stop();
    throw error;
  });
  const { stateDirectory } = running.maestro;
  const link = running.dashboardLink();
  if (options.json) printJson({ url, stateDirectory, dashboard: link, pid: process.pid });
  else {
    print(`Maestro listens on ${url}`);
    print(`Dashboard (this link works once): ${link}`);
    say(`State: ${stateDirectory}. The API token is in its file api-token. Ctrl-C stops.`);
  }
  await stopped;
}

/** For the running server, however it was started. */
async function printNewLink({ config }: LoadedConfig, { json }: ServeFlags): Promise<void> {
  const { askForLink } = await import("../../server/serve.ts");
  const link = await askForLink(config);
  if (json) printJson(link);
  else print(`Dashboard (this link works once): ${link.url}`);
}

/** Resolves when everything is closed. Work that takes too long is recovered at the next start. */
function stopOnSignal(stop: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) process.exit(interruptedExitCode);
      isStopping = true;
      say("Stopping: current steps finish first. Press Ctrl-C again to stop now.");
      const late = setTimeout(() => process.exit(0), hardStopMs).unref();
      stop()
        .finally(() => {
          clearTimeout(late);
          // Work that ignored its abort signal could keep the process alive.
          setTimeout(() => process.exit(), afterwardsMs).unref();
        })
        .then(resolve, reject);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}

/** The built-in team is always offered, unless a file has its name. */
async function loadTeams(paths: readonly string[]) {
  const given = await Promise.all(
    paths.map(async (path) => {
      const { team, file } = await loadTeam(path);
      return { team, file, builtIn: false };
    }),
  );
  const own = await builtInTeam();
  const isTaken = given.some(({ team }) => team.name === own.name);
  return isTaken ? given : [...given, { team: own, file: undefined, builtIn: true }];
}
