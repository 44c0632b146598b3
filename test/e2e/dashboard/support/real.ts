import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, type ServerProcess, startServer } from "../../server/support/server.ts";
import { type OpenPage, openPage, type PageOptions } from "./browser.ts";

const names = [
  "parking",
  "reviewed",
  "modeled",
  "helpless",
  "unsure",
  "writing",
  "large",
  "crowded",
  "changing",
  "talking",
];
const teams = names.flatMap((name) => ["--team", join(import.meta.dirname, `${name}-team.ts`)]);

export interface Place {
  readonly folder: string;
  readonly stateDir: string;
}

/** A folder for the brief of a session, and the state directory of a server. */
export function newPlace(): Place {
  const folder = newFolder();
  return { folder, stateDir: join(folder, "state") };
}

/** `maestro serve` with the teams of these tests, on a free port unless one is given. */
export const serve = ({ stateDir }: Place, port = 0, flags: readonly string[] = []): Promise<ServerProcess> =>
  startServer(stateDir, [...teams, "--port", String(port), ...flags]);

/** Opens the dashboard with the one-time link. */
export async function visitServer(server: ServerProcess, options: PageOptions = {}): Promise<OpenPage> {
  const opened = await openPage({ ...options, fresh: true });
  await opened.page.goto(server.dashboard);
  // The link redirects to the first page, and would interrupt an earlier navigation of the test.
  await opened.page.waitForURL(`${server.url}/`);
  return opened;
}

/** The effects of the steps of a session, in order. */
export const effectsOf = ({ folder }: Place): readonly string[] =>
  readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
