import type { Maestro } from "../api/open.ts";
import type { Scheduler } from "../api/scheduler.ts";
import type { Clock } from "../domain/clock.ts";
import { isoTime } from "../domain/iso-time.ts";
import { utcDay } from "../domain/ledger.ts";
import type { Disk } from "./disk.ts";
import type { ServerStatus } from "./schemas/server.ts";
import type { ViewCounts } from "./schemas/session.ts";

export interface Identity {
  readonly version: string;
  readonly instance: string;
  readonly startedAt: number;
  readonly address: () => string;
  /** The public address of the server. */
  readonly origin: () => string;
  /** The flag for the state directory, if commands need --state-dir to find it. */
  readonly stateDirectoryFlag: string | null;
  /** Folders whose repositories sessions may use. */
  readonly repoRoots: readonly string[];
  /** How a shell starts Maestro on the server's machine. */
  readonly program: string;
}

export interface StatusParts {
  readonly maestro: Maestro;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly disk: Disk;
  readonly identity: Identity;
}

export async function readStatus(parts: StatusParts): Promise<ServerStatus> {
  const { maestro, clock, scheduler, disk, identity } = parts;
  const today = Date.parse(utcDay(clock.now()));
  const [counts, queued, breakers, usage, space] = await Promise.all([
    maestro.count(),
    maestro.queued(),
    maestro.breakers(),
    maestro.usage({ by: "day", since: today }),
    disk.read(),
  ]);
  return {
    version: identity.version,
    instance: identity.instance,
    startedAt: isoTime(identity.startedAt),
    address: identity.address(),
    stateDirectory: maestro.stateDirectory,
    stateDirectoryFlag: identity.stateDirectoryFlag,
    repoRoots: [...identity.repoRoots],
    disk: space,
    queue: { running: scheduler.inUse, places: scheduler.places, waiting: queued.length },
    counts: viewCounts(counts),
    breakersNotClosed: breakers.filter(({ record }) => record.state.kind !== "closed").length,
    spentTodayUsd: usage.total.costUsd,
    simulatedTodayUsd: usage.total.simulatedUsd,
    savedTodayUsd: usage.total.savedUsd,
  };
}

export function viewCounts({ byStatus, held }: Awaited<ReturnType<Maestro["count"]>>): ViewCounts {
  return {
    parked: byStatus.parked,
    active: byStatus.queued + byStatus.running + byStatus.paused,
    finished: byStatus.completed + byStatus.failed + byStatus.canceled,
    retrying: held,
    failed: byStatus.failed,
  };
}
