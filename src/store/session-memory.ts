import { dirname, join } from "node:path";
import type { DeliveryOrder } from "../domain/delivery-order.ts";
import type { SessionId } from "../domain/ids.ts";
import { isJsonObject, type JsonObject, parseJson } from "../domain/json.ts";
import { makeDirectoryDurably, readBounded, writeDurably } from "./durable-file.ts";
import { SessionFiles } from "./session-files.ts";

// Settings of a session on this machine. Its paths and remotes do not belong in the journal, which can be exported.

/** The folder that a person chose for the files of a session. */
export interface OutFolder {
  readonly folder: string;
  /** Files were written there before. If the folder is missing now, a person removed it. */
  readonly used: boolean;
}

const mostBytes = 65_536;

/** Remembered for later commands on the session. */
export const rememberOut = (stateDirectory: string, id: string, out: OutFolder): Promise<void> =>
  remember(stateDirectory, id, "out.json", out);

export async function recallOut(stateDirectory: string, id: string): Promise<OutFolder | undefined> {
  const read = await recall(stateDirectory, id, "out.json");
  if (typeof read?.["folder"] !== "string") return undefined;
  return { folder: read["folder"], used: read["used"] === true };
}

/** Remembered for the driver that completes the session, whichever command started it. */
export const rememberOrder = (stateDirectory: string, id: string, order: DeliveryOrder): Promise<void> =>
  remember(stateDirectory, id, "deliver.json", order);

export async function recallOrder(stateDirectory: string, id: string): Promise<DeliveryOrder | undefined> {
  const read = await recall(stateDirectory, id, "deliver.json");
  if (read === undefined) return undefined;
  const text = (name: "branch" | "patch" | "push") =>
    typeof read[name] === "string" ? { [name]: read[name] } : {};
  return {
    ...text("branch"),
    ...text("patch"),
    ...text("push"),
    ...(read["apply"] === true && { apply: true }),
    ...(read["pullRequest"] === true && { pullRequest: true }),
  };
}

async function remember(stateDirectory: string, id: string, name: string, value: object): Promise<void> {
  const file = fileFor(stateDirectory, id, name);
  await makeDirectoryDurably(dirname(file), stateDirectory);
  await writeDurably(file, `${JSON.stringify(value)}\n`);
}

/** A damaged record is ignored, because the command can be given again. */
async function recall(stateDirectory: string, id: string, name: string): Promise<JsonObject | undefined> {
  const file = fileFor(stateDirectory, id, name);
  const found = (await readBounded(file, mostBytes).catch(() => undefined))?.toString();
  if (found === undefined) return undefined;
  try {
    const read = parseJson(found, { what: file });
    return isJsonObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

const fileFor = (stateDirectory: string, id: string, name: string): string =>
  join(new SessionFiles(stateDirectory, id as SessionId).folder, name);
