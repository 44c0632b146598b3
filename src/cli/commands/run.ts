import { InputInvalid, SessionNotFound } from "../../domain/errors.ts";
import type { SessionView, StartOptions } from "../../index.ts";
import { drive } from "../drive.ts";
import { loadFromFlags, withMaestro } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { say } from "../output.ts";
import { readGiven } from "../read-edit.ts";
import { readBudget, readList } from "../read-flags.ts";
import type { RunOptions } from "../run-options.ts";
import { loadTeamFile, prove } from "../team-of.ts";

export async function run(argument: string | undefined, options: RunOptions): Promise<void> {
  const written = argument === "-" ? await readBrief() : argument;
  const known = written === undefined || options.team === undefined ? await sessionOf(options) : undefined;
  const brief = written ?? known?.brief;
  if (brief === undefined) {
    throw new InputInvalid("There is no brief.", {
      advice:
        'Say what the team should do: maestro run "..."; or let it be read from standard input: maestro run -',
    });
  }
  const teamFile = options.team ?? known?.teamFile ?? undefined;
  const { team, file } = await loadTeamFile(teamFile);
  const loaded = await loadFromFlags(options);
  await prove(team, { ...loaded.config, model: loaded.config.model ?? known?.model ?? undefined });
  const start = { ...(await readStart(options)), brief, ...(file !== undefined && { teamFile: file }) };
  await checkOut(options.out);
  if (options.detach) {
    const { detach } = await import("../detach.ts");
    return detach(brief, { ...options, ...(teamFile !== undefined && { team: teamFile }) });
  }
  await drive(options, (maestro, ready) => maestro.start(team, { ...start, beforeDrive: ready }), {
    loaded,
    teams: [team],
  });
}

/** More than a brief may have, so that it is refused as what it is. */
const mostBriefBytes = 4 * 1024 * 1024;

async function readBrief(): Promise<string> {
  if (process.stdin.isTTY) say("Write the brief; Ctrl-D ends it.");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBriefBytes) break;
    chunks.push(chunk);
  }
  try {
    // One that is too long was cut, perhaps within a character.
    const stream = size > mostBriefBytes;
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks), { stream }).trim();
  } catch (cause) {
    throw new InputInvalid("What came on standard input is not text (UTF-8).", {
      advice: "Write the brief as UTF-8.",
      cause,
    });
  }
}

/** A key that is known says what it is about, and with whom. */
async function sessionOf({ key, ...options }: RunOptions): Promise<SessionView | undefined> {
  if (key === undefined) return undefined;
  const found = await withMaestro(options, (maestro) => maestro.show(key)).catch((error: unknown) => {
    if (SessionNotFound.is(error)) return undefined;
    throw error;
  });
  // A key may look like the beginning of another session's id.
  return found?.key === key ? found : undefined;
}

async function readStart(options: RunOptions): Promise<Omit<StartOptions, "brief">> {
  const only = readList("--only", options.only);
  const pauseAfter = readList("--pause-after", options.pauseAfter);
  const budget = readBudget(options);
  const given = await readGiven(options.given);
  return {
    ...(options.key !== undefined && { key: options.key }),
    ...(options.model !== undefined && { model: options.model }),
    ...(only !== undefined && { only }),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.until !== undefined && { until: options.until }),
    ...(pauseAfter !== undefined && { pauseAfter }),
    ...(budget !== undefined && { budget }),
    ...(Object.keys(given).length > 0 && { given }),
  };
}
