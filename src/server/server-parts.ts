import type { Log } from "../api/log/log.ts";
import type { Maestro } from "../api/open.ts";
import type { Scheduler } from "../api/scheduler.ts";
import type { Config } from "../config/config.ts";
import type { Clock } from "../domain/clock.ts";
import type { BrowserLogins } from "./access/browser-logins.ts";
import type { OneTimeCodes } from "./access/one-time-code.ts";
import type { People } from "./access/people.ts";
import type { WrongTokens } from "./access/wrong-tokens.ts";
import type { Disk } from "./disk.ts";
import type { EventHub } from "./feed/event-hub.ts";
import type { SessionBook } from "./feed/session-book.ts";
import type { RunMetrics } from "./metrics/run-metrics.ts";
import type { Identity } from "./server-status.ts";
import type { SessionActions } from "./session-actions.ts";
import type { SessionPages } from "./session-pages.ts";
import type { SessionRows } from "./session-rows.ts";
import type { DashboardFiles } from "./static.ts";
import type { RegisteredTeam } from "./views/teams.ts";

export interface ServerParts {
  readonly maestro: Maestro;
  readonly config: Config;
  readonly clock: Clock;
  readonly teams: readonly RegisteredTeam[];
  readonly scheduler: Scheduler;
  readonly actions: SessionActions;
  readonly book: SessionBook;
  readonly rows: SessionRows;
  readonly pages: SessionPages;
  readonly hub: EventHub;
  readonly metrics: RunMetrics;
  readonly disk: Disk;
  readonly identity: Identity;
  readonly codes: OneTimeCodes;
  readonly wrongTokens: WrongTokens;
  readonly logins: BrowserLogins;
  readonly people: People;
  /** The accepted Host headers, known after it listens. */
  readonly hosts: () => ReadonlySet<string>;
  readonly dashboard: DashboardFiles;
  readonly isStopping: () => boolean;
  readonly report: (notice: string) => void;
  readonly log: Log;
}
