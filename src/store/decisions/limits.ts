import type { SessionRecord } from "../session-record.ts";

type LimitKind = "team" | "model" | "queue";

/** The fields of a session that limits depend on. */
export type Limited = Pick<SessionRecord, LimitKind>;

/** How many sessions may run at once, by name. A missing name has no limit. */
export interface SessionLimits {
  readonly teams?: Readonly<Record<string, number>> | undefined;
  readonly models?: Readonly<Record<string, number>> | undefined;
  readonly queues?: Readonly<Record<string, number>> | undefined;
}

export interface Limit {
  readonly kind: LimitKind;
  readonly name: string;
  readonly most: number;
}

/** The limits that apply to a session. */
export function limitsOf(session: Limited, limits: SessionLimits): readonly Limit[] {
  const named = { team: limits.teams, model: limits.models, queue: limits.queues };
  return (["team", "model", "queue"] as const).flatMap((kind) => {
    const name = session[kind];
    const most =
      name !== undefined && Object.hasOwn(named[kind] ?? {}, name) ? named[kind]?.[name] : undefined;
    return name === undefined || most === undefined ? [] : [{ kind, name, most }];
  });
}

/** How many sessions run, by team, model and queue. */
export class RunningCounts {
  readonly #counts = new Map<string, number>();

  add(session: Limited): void {
    for (const key of [`team ${session.team}`, `model ${session.model}`, `queue ${session.queue}`])
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  of(kind: LimitKind, name: string): number {
    return this.#counts.get(`${kind} ${name}`) ?? 0;
  }
}

/** The first limit that leaves no place for another session. */
export const reachedLimit = (
  limits: readonly Limit[],
  running: (kind: LimitKind, name: string) => number,
): Limit | undefined => limits.find(({ kind, name, most }) => running(kind, name) >= most);
