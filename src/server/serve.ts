import { isolatedTeam } from "../api/isolated-team.ts";
import type { Log } from "../api/log/log.ts";
import { logEvent } from "../api/log/log-event.ts";
import type { Maestro } from "../api/open.ts";
import { open } from "../api/open.ts";
import { resolveStateDirectory } from "../api/open-readonly.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Notify } from "../domain/advice.ts";
import { type Clock, systemClock } from "../domain/clock.ts";
import { newId } from "../domain/ids.ts";
import { keepSecret } from "../domain/redact.ts";
import { BrowserLogins } from "./access/browser-logins.ts";
import { demandStrongToken, exposureNotices, whereOf } from "./access/exposure.ts";
import { allowedHosts } from "./access/host-check.ts";
import { OneTimeCodes } from "./access/one-time-code.ts";
import { People } from "./access/people.ts";
import { owner } from "./access/person.ts";
import { readTlsFiles } from "./access/tls-files.ts";
import { loadToken, TokenCheck } from "./access/token.ts";
import { WrongTokens } from "./access/wrong-tokens.ts";
import { createApp } from "./app.ts";
import { Disk } from "./disk.ts";
import { EventHub } from "./feed/event-hub.ts";
import { SessionBook } from "./feed/session-book.ts";
import { type Listening, listen } from "./listen.ts";
import { LiveActivity } from "./live-activity.ts";
import { RunMetrics } from "./metrics/run-metrics.ts";
import { readRepoRoots } from "./repo-roots.ts";
import type { App } from "./routes/route.ts";
import { addressOf } from "./server-address.ts";
import type { ServerParts } from "./server-parts.ts";
import { readStatus } from "./server-status.ts";
import { SessionActions } from "./session-actions.ts";
import { SessionPages } from "./session-pages.ts";
import { SessionRows } from "./session-rows.ts";
import { DashboardFiles } from "./static.ts";
import { breakerViews } from "./views/breaker.ts";
import type { RegisteredTeam } from "./views/teams.ts";

export { askForLink } from "./ask-for-link.ts";

const mostStreams = 1_000;

export interface ServeOptions {
  readonly loaded: LoadedConfig;
  /** Teams with a file run their functions in processes of their own. */
  readonly teams: readonly RegisteredTeam[];
  readonly version: string;
  readonly clock?: Clock;
  /** The folder of the built dashboard. */
  readonly dashboardFolder?: string;
  readonly report: Notify;
  /** Requests, and the rows of sessions that this process drives. */
  readonly log?: Log;
  /** Folders whose repositories sessions may use. */
  readonly repoRoots?: readonly string[];
  /** How a shell starts Maestro here, for commands in answers and tickets. */
  readonly program?: string;
}

export interface RunningServer {
  readonly app: App;
  readonly maestro: Maestro;
  readonly token: string;
  /** Recovers sessions after a crash and drives queued ones. */
  drive(): void;
  /** Listens and drives. Returns the public address, the one to use on this machine, and both for a sentence. */
  listen(): Promise<{
    readonly host: string;
    readonly port: number;
    readonly url: string;
    readonly where: string;
  }>;
  /** Serves MCP on standard input and output, until the client leaves. */
  serveClient(): Promise<void>;
  /** A link that opens the dashboard once. */
  dashboardLink(): string;
  /** Lets running steps finish, releases every session and ends every connection, within ten seconds. */
  stop(): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { loaded, version, clock = systemClock, report, log = () => {}, program = "maestro" } = options;
  const { config } = loaded;
  const { path: stateDirectory } = await resolveStateDirectory({
    explicit: config.stateDir,
    env: process.env,
  });
  const isolation = { memoryMb: config.server.functionMemoryMb, prices: config.prices, stateDirectory };
  const teams = options.teams.map((registered) => {
    const { team, file } = registered;
    return file === undefined ? registered : { ...registered, team: isolatedTeam(team, file, isolation) };
  });
  const repoRoots = await readRepoRoots(options.repoRoots ?? []);
  const metrics = new RunMetrics();
  const activity = new LiveActivity();
  let hub: EventHub | undefined;
  const maestro = await open({
    loaded,
    clock,
    teams: teams.map(({ team }) => team),
    onNotice: report,
    program,
    onEvent: (event) => {
      metrics.hear(event);
      activity.hear(event);
      hub?.hear(event);
      logEvent(log, event);
      if (event.kind === "budget.alerted") report(`Session ${event.sessionId}: ${event.message}`);
    },
  });
  try {
    const { publicUrl } = config.server;
    const tls = await readTlsFiles(config.server);
    const token = config.server.apiToken ?? (await loadToken(maestro.stateDirectory));
    demandStrongToken(token, config.server.host, publicUrl);
    keepSecret([token]);
    const scheduler = maestro.scheduler({ places: config.server.places, report });
    const book = new SessionBook(maestro);
    const limits = { maxAttempts: config.attempts.max, maxRounds: config.rounds.max };
    const rows = new SessionRows({ maestro, clock, scheduler, activity });
    const pages = new SessionPages({ maestro, rows, limits });
    const disk = new Disk(maestro.stateDirectory, clock);
    let listening: Listening | undefined;
    let isStopping = false;
    const address = () => addressOf(listening ?? config.server);
    const here = () => `${tls === undefined ? "http" : "https"}://${address()}`;
    const origin = () => publicUrl ?? here();
    const stateDirectoryFlag = config.stateDir === undefined ? null : maestro.stateDirectory;
    const identity = {
      version,
      instance: newId(),
      startedAt: clock.now(),
      address,
      origin,
      stateDirectoryFlag,
      repoRoots,
      program,
    };
    hub = new EventHub({
      maestro,
      clock,
      book,
      rows,
      pages,
      instance: identity.instance,
      readBreakers: () => breakerViews(maestro, config.breaker, clock.now()),
      readStatus: () => readStatus({ maestro, clock, scheduler, disk, identity }),
      mostStreams,
      onClose: (reason) => metrics.streamClosed(reason),
      report,
    });
    const logins = new BrowserLogins(token, { maestro, clock });
    const { access } = maestro;
    const people = new People({ access, token: new TokenCheck(token), logins, clock });
    const parts: ServerParts = {
      maestro,
      config,
      clock,
      teams,
      scheduler,
      actions: new SessionActions({ maestro, scheduler, book }),
      book,
      rows,
      pages,
      hub,
      metrics,
      disk,
      identity,
      codes: new OneTimeCodes(clock),
      logins,
      people,
      wrongTokens: new WrongTokens(clock),
      hosts: () => allowedHosts(listening ?? config.server, publicUrl),
      dashboard: new DashboardFiles(options.dashboardFolder),
      isStopping: () => isStopping,
      report,
      log,
    };
    const app = createApp(parts);
    metrics.start();
    return {
      app,
      maestro,
      token,
      drive: () => void scheduler.start(),
      listen: async () => {
        listening = await listen(app, config.server, tls);
        for (const notice of exposureNotices({ host: listening.host, hasTls: tls !== undefined, publicUrl }))
          report(notice);
        void scheduler.start();
        const { host, port } = listening;
        return { host, port, url: here(), where: whereOf(host, here()) };
      },
      serveClient: async () => (await import("./mcp/stdio.ts")).serveClient(app, identity, token),
      dashboardLink: () => `${origin()}/login?code=${parts.codes.issue(owner).code}`,
      stop: async () => {
        isStopping = true;
        listening?.refuseNew();
        await Promise.all([parts.hub.close(), scheduler.stop()]);
        metrics.stop();
        people.streams.stop();
        try {
          await maestro.close();
        } finally {
          await listening?.close();
        }
      },
    };
  } catch (error) {
    await maestro.close();
    throw error;
  }
}
