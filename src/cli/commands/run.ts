import { resolve } from "node:path";
import type { Command } from "commander";
import type { LoadedConfig } from "../../config/load.ts";
import { advise } from "../../domain/advice.ts";
import { InputInvalid, SessionNotFound } from "../../domain/errors.ts";
import type { SessionView, StartOptions } from "../../index.ts";
import { detach } from "../detach.ts";
import { type DriveOptions, drive } from "../drive.ts";
import { loadFromFlags, withReadonly } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { say } from "../output.ts";
import { readAttachments, readGiven } from "../read-edit.ts";
import { readBudget, readList, readQueuePlace } from "../read-flags.ts";
import { loadTeamFile, prove } from "../team-of.ts";

export interface RunOptions extends DriveOptions {
  readonly team?: string;
  readonly key?: string;
  readonly only?: string;
  readonly from?: string;
  readonly until?: string;
  readonly pauseAfter?: string;
  readonly attach?: readonly string[];
  readonly given?: readonly string[];
  readonly repo?: string;
  readonly ref?: string;
  readonly branch?: string;
  readonly apply?: boolean;
  readonly patch?: string;
  readonly push?: string;
  readonly pullRequest?: boolean;
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
  readonly queue?: string;
  readonly priority?: string;
  readonly detach?: boolean;
}

export async function run(
  argument: string | undefined,
  options: RunOptions,
  command: Command,
): Promise<void> {
  const written = argument === "-" ? await readBrief() : argument;
  const loaded = await loadFromFlags(options);
  const known =
    written === undefined || options.team === undefined ? await sessionOf(options, loaded) : undefined;
  const brief = written ?? known?.brief;
  if (brief === undefined) {
    throw new InputInvalid("There is no brief.", {
      advice: [
        advise("Describe what the team should do", "run", "<brief>"),
        advise("Or pass it on standard input", "run", "-"),
      ],
    });
  }
  const teamFile = options.team ?? known?.teamFile ?? undefined;
  const { team, file } = await loadTeamFile(teamFile, options);
  await prove(team, { ...loaded.config, model: loaded.config.model ?? known?.model ?? undefined });
  const start = { ...(await readStart(options)), brief, ...(file !== undefined && { teamFile: file }) };
  await checkOut(options.out);
  if (options.detach)
    return detach(brief, { ...options, ...(teamFile !== undefined && { team: teamFile }) }, command);
  await drive(options, (maestro, ready) => maestro.start(team, { ...start, beforeDrive: ready }), {
    loaded,
    teams: [team],
  });
}

/** Larger than the limit of a brief, so that a long brief is refused as too long. */
const mostBriefBytes = 4 * 1024 * 1024;

async function readBrief(): Promise<string> {
  if (process.stdin.isTTY) say("Type the brief; end it with Ctrl-D.");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBriefBytes) break;
    chunks.push(chunk);
  }
  try {
    // A brief that was too long may be cut within a character.
    const stream = size > mostBriefBytes;
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks), { stream }).trim();
  } catch (cause) {
    throw new InputInvalid("Standard input is not UTF-8 text.", {
      advice: "Write the brief as UTF-8.",
      cause,
    });
  }
}

/** The session that already has this key: its brief, team and model are the defaults. */
async function sessionOf(
  { key, ...options }: RunOptions,
  loaded: LoadedConfig,
): Promise<SessionView | undefined> {
  if (key === undefined) return undefined;
  const found = await withReadonly(options, (maestro) => maestro.show(key), { loaded }).catch(
    (error: unknown) => {
      if (SessionNotFound.is(error)) return undefined;
      throw error;
    },
  );
  // The key may be a prefix of another session's id.
  return found?.key === key ? found : undefined;
}

async function readStart(options: RunOptions): Promise<Omit<StartOptions, "brief">> {
  const only = readList("--only", options.only);
  const pauseAfter = readList("--pause-after", options.pauseAfter);
  const budget = readBudget(options);
  const given = await readGiven(options.given);
  const attachments = await readAttachments(options.attach);
  const place = readQueuePlace(options);
  return {
    ...(options.key !== undefined && { key: options.key }),
    ...(options.model !== undefined && { model: options.model }),
    ...(only !== undefined && { only }),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.until !== undefined && { until: options.until }),
    ...(pauseAfter !== undefined && { pauseAfter }),
    ...(budget !== undefined && { budget }),
    ...place,
    ...(attachments !== undefined && { attachments }),
    ...(Object.keys(given).length > 0 && { given }),
    ...sourceOf(options),
    ...deliveryOf(options),
  };
}

/** Paths are relative to this folder, and the session may complete from another one. */
function deliveryOf({ branch, apply, patch, push, pullRequest }: RunOptions): Pick<StartOptions, "deliver"> {
  const deliver = {
    ...(branch !== undefined && { branch }),
    ...(apply === true && { apply }),
    ...(patch !== undefined && { patch: resolve(patch) }),
    ...(push !== undefined && { push }),
    ...(pullRequest === true && { pullRequest }),
  };
  return Object.keys(deliver).length === 0 ? {} : { deliver };
}

function sourceOf({ repo, ref }: RunOptions): Pick<StartOptions, "source"> {
  if (repo === undefined && ref === undefined) return {};
  return { source: { ...(repo !== undefined && { git: repo }), ...(ref !== undefined && { ref }) } };
}
