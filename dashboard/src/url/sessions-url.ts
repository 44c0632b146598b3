/** Filters of the session list, as they appear in the address. */
export const sessionViews = ["needs-you", "active", "all", "retrying", "failed"] as const;
export type SessionsViewName = (typeof sessionViews)[number];

export const sincePeriods = ["1d", "7d", "30d", "any"] as const;
export type Since = (typeof sincePeriods)[number];

export interface SessionsFilter {
  readonly view: SessionsViewName;
  readonly team: string;
  readonly since: Since;
  readonly text: string;
}

export const noFilter: SessionsFilter = { view: "all", team: "", since: "any", text: "" };

const mostCharacters = 200;

/** The address bar is untrusted input: unknown values fall back to the default. */
export function parseSessionsFilter(search: string): SessionsFilter {
  const query = new URLSearchParams(search);
  return {
    view: oneOf(sessionViews, query.get("view"), noFilter.view),
    team: (query.get("team") ?? "").slice(0, mostCharacters),
    since: oneOf(sincePeriods, query.get("since"), noFilter.since),
    text: (query.get("q") ?? "").slice(0, mostCharacters),
  };
}

/** Omits defaults, so that the plain list is "/". */
export function formatSessionsFilter({ view, team, since, text }: SessionsFilter): string {
  const query = new URLSearchParams();
  if (view !== noFilter.view) query.set("view", view);
  if (team !== "") query.set("team", team);
  if (since !== noFilter.since) query.set("since", since);
  if (text !== "") query.set("q", text);
  const written = query.toString();
  return written === "" ? "/" : `/?${written}`;
}

export const isFiltered = ({ team, since, text }: SessionsFilter): boolean =>
  team !== "" || since !== "any" || text !== "";

const periodMs: Readonly<Record<Since, number | undefined>> = {
  "1d": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
  any: undefined,
};

/**
 * The start of the period in the server's format. Rounded to whole hours, so that the query stays the same for an
 * hour.
 */
export function sinceTime(since: Since, now: number): string | undefined {
  const period = periodMs[since];
  if (period === undefined) return undefined;
  return new Date(Math.floor((now - period) / 3_600_000) * 3_600_000).toISOString();
}

export function oneOf<Value extends string>(
  known: readonly Value[],
  given: string | null,
  fallback: Value,
): Value {
  return known.find((value) => value === given) ?? fallback;
}
