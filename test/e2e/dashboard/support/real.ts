import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, type ServerProcess, startServer } from "../../server/support/server.ts";
import { type OpenPage, openPage, type PageOptions } from "./browser.ts";

const teams = ["parking", "reviewed", "modeled", "helpless", "large", "crowded"].flatMap((name) => [
  "--team",
  join(import.meta.dirname, `${name}-team.ts`),
]);

export interface Place {
  readonly folder: string;
  readonly stateDir: string;
}

/** A folder that the brief of a session names, and the state of a server. */
export function newPlace(): Place {
  const folder = newFolder();
  return { folder, stateDir: join(folder, "state") };
}

/** `maestro serve` with the teams of these tests; on the port of one that was there before, when it is given. */
export const serve = ({ stateDir }: Place, port = 0): Promise<ServerProcess> =>
  startServer(stateDir, [...teams, "--port", String(port)]);

/** Opens the dashboard as a person does: with the link that works once. */
export async function visitServer(server: ServerProcess, options: PageOptions = {}): Promise<OpenPage> {
  const opened = await openPage({ ...options, fresh: true });
  await opened.page.goto(server.dashboard);
  // The link leads on to the first page by itself, and would take back whatever a test goes to before that.
  await opened.page.waitForURL(`${server.url}/`);
  return opened;
}

/** What the steps of a session have done to the world, in order. */
export const effectsOf = ({ folder }: Place): readonly string[] =>
  readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
