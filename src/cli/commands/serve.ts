import { readFileSync } from "node:fs";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { builtInTeam, loadTeam } from "../../index.ts";
import { packageFile } from "../../package-files.ts";
import type { GlobalOptions } from "../open.ts";
import { pasteable, print, printJson, say } from "../output.ts";
import { plain } from "../terminal/words.ts";

/** Less than what a supervisor usually waits before it kills. */
const hardStopMs = 9_500;
/** For what is still on its way to a terminal or a pipe. */
const afterwardsMs = 200;
const interruptedExitCode = 130;

interface ServeFlags extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
  readonly team?: readonly string[];
  readonly link?: boolean;
}

export async function serve(options: ServeFlags): Promise<void> {
  // Whoever reads the log may go before the server does; that is no reason to end without putting things away.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const { stateDir, port, host } = options;
  const loaded = await loadConfig({ flags: { stateDir, "server.port": port, "server.host": host } });
  if (options.link === true) return printNewLink(loaded, options);
  const teams = await loadTeams(options.team ?? []);
  const server = await import("../../server/serve.ts");
  const running = await server.serve({
    loaded,
    teams,
    version: version(),
    report: (notice) => say(pasteable(plain(notice))),
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
    say(`State: ${stateDirectory}. The token of the API is in its file api-token; Ctrl-C stops.`);
  }
  await stopped;
}

/** Of the server that runs already, whoever started it. */
async function printNewLink({ config }: LoadedConfig, { json }: ServeFlags): Promise<void> {
  const { askForLink } = await import("../../server/serve.ts");
  const link = await askForLink(config);
  if (json) printJson(link);
  else print(`Dashboard (this link works once): ${link.url}`);
}

/** Resolves when everything is put away; what takes too long is left to the next start, which recovers it. */
function stopOnSignal(stop: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) process.exit(interruptedExitCode);
      isStopping = true;
      say("Stopping: steps under way are finished first. Once more stops at once.");
      const late = setTimeout(() => process.exit(0), hardStopMs).unref();
      stop()
        .finally(() => {
          clearTimeout(late);
          // Work that heard no signal was left to itself, and may keep the process alive for ever.
          setTimeout(() => process.exit(), afterwardsMs).unref();
        })
        .then(resolve, reject);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}

/** The built-in team is always there, unless a file takes its name. */
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

function version(): string {
  const path = packageFile("package.json");
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
