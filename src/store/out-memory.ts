import { dirname, join } from "node:path";
import type { SessionId } from "../domain/ids.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { makeDirectoryDurably, readBounded, writeDurably } from "./durable-file.ts";
import { SessionFiles } from "./session-files.ts";

/** The folder that a person chose for the files of a session. */
export interface OutFolder {
  readonly folder: string;
  /** Files were written there before: if it is missing now, a person removed it. */
  readonly used: boolean;
}

const mostBytes = 65_536;

/** For later commands on the session; of this machine alone, so it is not in the journal. */
export async function rememberOut(stateDirectory: string, id: string, out: OutFolder): Promise<void> {
  const file = fileFor(stateDirectory, id);
  await makeDirectoryDurably(dirname(file), stateDirectory);
  await writeDurably(file, `${JSON.stringify(out)}\n`);
}

export async function recallOut(stateDirectory: string, id: string): Promise<OutFolder | undefined> {
  const file = fileFor(stateDirectory, id);
  const found = (await readBounded(file, mostBytes).catch(() => undefined))?.toString();
  if (found === undefined) return undefined;
  try {
    const read = parseJson(found, { what: file });
    if (!isJsonObject(read) || typeof read["folder"] !== "string") return undefined;
    return { folder: read["folder"], used: read["used"] === true };
  } catch {
    // Not worth stopping for: the files can be had with --out.
    return undefined;
  }
}

const fileFor = (stateDirectory: string, id: string): string =>
  join(new SessionFiles(stateDirectory, id as SessionId).folder, "out.json");
