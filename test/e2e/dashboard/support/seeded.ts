import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { serverArguments, serverSettings } from "../../../../dashboard/seed/settings.ts";
import { newFolder, type ServerProcess, startServer, token } from "../../server/support/server.ts";
import { describeInBrowser, type OpenPage, openPage, type PageOptions } from "./browser.ts";
import { openLine } from "./line.ts";

const seedProgram = join(import.meta.dirname, "../../../../dashboard/seed/seed.ts");
const run = promisify(execFile);

let folder: string;
/** The tests of a file that change nothing share one server. */
let shared: Promise<ServerProcess> | undefined;
let endShared: () => Promise<void>;

/** Tests on a seeded state directory. The file seeds it once; a session waits for at most ten minutes after that. */
export function describeSeeded(name: string, tests: () => void): void {
  describeInBrowser(name, () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "maestro-seeded-"));
      await run(process.execPath, [seedProgram, join(folder, "seed")]);
    }, 300_000);
    afterAll(async () => {
      if (shared !== undefined) await endShared();
      rmSync(folder, { recursive: true, force: true });
    });
    tests();
  });
}

export interface Visit extends OpenPage {
  readonly server: ServerProcess;
  readonly url: string;
  /** Requests of the page that change something, in order. */
  readonly changes: readonly { readonly method: string; readonly path: string; readonly body: unknown }[];
  /** Lets a persona that waits for this signal continue. */
  readonly signal: (name: string) => void;
}

export interface VisitOptions extends PageOptions {
  readonly before?: (page: Page) => Promise<void> | void;
}

/** Opens a page of the server that all tests of the file share. */
export async function visit(path: string, options: VisitOptions = {}): Promise<Visit> {
  shared ??= serveCopy(folder, (end) => {
    endShared = end;
  });
  const server = await shared;
  return look(server, server.url, folder, path, options);
}

/** Opens a page of a server with its own copy of the seeded state directory. */
export async function visitOwn(path: string, options: VisitOptions = {}): Promise<Visit> {
  const own = newFolder();
  const server = await serveCopy(own);
  return look(server, server.url, own, path, options);
}

/** The same through a connection that the test can cut. */
export async function visitByLine(
  path: string,
): Promise<Visit & { readonly cut: () => void; readonly mend: () => void }> {
  const own = newFolder();
  const line = await openLine();
  const server = await serveCopy(own, undefined, {
    MAESTRO_SERVER_PUBLIC_URL: `http://127.0.0.1:${line.port}`,
  });
  line.leadTo(server.port);
  return { ...(await look(server, `http://127.0.0.1:${line.port}`, own, path, {})), ...line };
}

async function serveCopy(
  place: string,
  whenDone?: (end: () => Promise<void>) => void,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const stateDir = join(place, "state");
  const signals = join(place, "signals");
  cpSync(join(folder, "seed"), stateDir, { recursive: true });
  mkdirSync(signals);
  const environment = { ...serverSettings, ...settings, MAESTRO_API_TOKEN: token, SEED_SIGNALS: signals };
  return startServer(stateDir, serverArguments, environment, whenDone);
}

async function look(
  server: ServerProcess,
  url: string,
  place: string,
  path: string,
  options: VisitOptions,
): Promise<Visit> {
  const opened = await openPage({ ...options, fresh: true });
  const { page } = opened;
  const link = await server.post<{ url: string }>("/v1/dashboard-links");
  await page.request.get(link.url.replace(server.url, url));
  const changes: Visit["changes"][number][] = [];
  page.on("request", (request) => {
    const body = request.method() === "GET" ? undefined : (request.postDataJSON() as { dryRun?: boolean });
    if (body === undefined || body.dryRun === true) return;
    changes.push({ method: request.method(), path: new URL(request.url()).pathname, body });
  });
  await options.before?.(page);
  await page.goto(url + path);
  const signal = (name: string) => writeFileSync(join(place, "signals", name), "");
  return { ...opened, server, url, changes, signal };
}
