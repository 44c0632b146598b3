import { dirname, join } from "node:path";
import type { SessionId } from "../domain/ids.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { makeDirectoryDurably, readBounded, writeDurably } from "./durable-file.ts";
import { SessionFiles } from "./session-files.ts";

/** Where the files of a session go, as somebody said. */
export interface OutFolder {
  readonly folder: string;
  /** Whether they ever went there: one that was there and is gone was taken away by a person. */
  readonly used: boolean;
}

const mostBytes = 65_536;

/** For every later command that goes on with the session; on this machine alone, so it is not in the journal. */
export async function rememberOut(stateDirectory: string, id: string, out: OutFolder): Promise<void> {
  const file = fileFor(stateDirectory, id);
  await makeDirectoryDurably(dirname(file));
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
