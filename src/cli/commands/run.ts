import { InputInvalid, TeamInvalid } from "../../domain/errors.ts";
import { loadTeam, type Maestro, type Session, type SessionEvent, type SessionResult } from "../../index.ts";
import { pauseOnInterrupt } from "../interrupt.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { plain, print, printJson, resumeCommand, say } from "../output.ts";
import { progressLine } from "../progress.ts";

interface RunOptions extends GlobalOptions {
  readonly team: string;
  readonly key?: string;
}

export async function run(brief: string | undefined, options: RunOptions): Promise<void> {
  if (brief === undefined)
    throw new InputInvalid("There is no brief.", {
      advice: 'Say what the team should do: maestro run "..." --team file',
    });
  const { team, file } = await loadTeam(options.team);
  await drive(options, (maestro) =>
    maestro.start(team, { brief, teamFile: file, ...(options.key !== undefined && { key: options.key }) }),
  );
}

export async function resume(
  idOrKey: string,
  options: GlobalOptions & { readonly team?: string },
): Promise<void> {
  await drive(options, async (maestro) => {
    const file = options.team ?? (await maestro.show(idOrKey)).teamFile;
    if (file === null) {
      throw new TeamInvalid(`Session ${idOrKey} was started by a program; its team has no file.`, {
        advice: "Resume it from that program, or give the file with --team.",
      });
    }
    return maestro.resume(idOrKey, { team: (await loadTeam(file)).team });
  });
}

async function drive(options: GlobalOptions, begin: (maestro: Maestro) => Promise<Session>): Promise<void> {
  const onEvent = (event: SessionEvent): void => {
    if (options.json) return printJson(event);
    const line = progressLine(event);
    if (line !== undefined) say(line);
  };
  await withMaestro(
    options,
    async (maestro) => {
      const session = await begin(maestro);
      if (!options.json) say(`Session ${session.id} in ${maestro.stateDirectory}`);
      const interrupt = pauseOnInterrupt(maestro, session.id);
      const result = await session.result().finally(interrupt.leave);
      report(result, options);
      process.exitCode = interrupt.interrupted() ? 130 : exitCode(result);
    },
    { onEvent },
  );
}

function report(result: SessionResult, { json, stateDir }: GlobalOptions): void {
  if (json) return printJson({ kind: "result", ...result });
  for (const [phase, personas] of Object.entries(result.results)) {
    for (const [persona, { summary }] of Object.entries(personas))
      print(plain(`${phase} · ${persona}: ${summary}`));
  }
  const again = resumeCommand(result.id, stateDir);
  print(
    `Session ${result.id} is ${result.status}${result.reason === undefined ? "" : ` (${result.reason})`}.`,
  );
  if (result.ticket !== null)
    say(plain(`Ticket: ${result.ticket.url ?? result.ticket.fingerprint} (${result.ticket.status})`));
  if (result.error !== undefined) say(plain(`${result.error.message} ${result.error.advice ?? ""}`));
  if (result.status === "paused" || result.status === "parked" || result.status === "running")
    say(`Go on with: ${again}`);
}

function exitCode({ status }: SessionResult): number {
  if (status === "parked") return 4;
  return status === "failed" || status === "canceled" ? 3 : 0;
}
