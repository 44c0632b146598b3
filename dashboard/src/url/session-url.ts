import type { JournalFilter } from "../api/types.ts";
import { oneOf } from "./sessions-url.ts";

const sessionTabs = ["stopped", "run", "artifacts", "checkpoints", "decisions", "budget", "brief"] as const;
export type SessionTab = (typeof sessionTabs)[number];

const inspectorTabs = ["live", "attempts", "files", "contract", "conversation"] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

export const journalFilters = [
  "all",
  "transitions",
  "failures",
  "money",
] as const satisfies readonly JournalFilter[];

export interface Selection {
  readonly phase: string;
  readonly persona: string;
}

export interface AttemptRef {
  readonly round: number;
  readonly attempt: number;
}

/** The selection on a session's page. Parameters of other tabs are kept. */
export interface RunQuery {
  readonly selection: Selection | undefined;
  readonly attempt: AttemptRef | undefined;
  readonly inspector: InspectorTab;
  readonly journal: JournalFilter;
  readonly table: boolean;
}

export function parseRunQuery(search: string): RunQuery {
  const query = new URLSearchParams(search);
  return {
    selection: parseSelection(query.get("persona")),
    attempt: parseAttempt(query.get("attempt")),
    inspector: oneOf(inspectorTabs, query.get("show"), "live"),
    journal: oneOf(journalFilters, query.get("journal"), "all"),
    table: query.get("table") === "1",
  };
}

/** "?persona=implementation/backend_developer&attempt=r1a2" */
export function formatRunQuery({ selection, attempt, inspector, journal, table }: RunQuery): string {
  const parts: string[] = [];
  // Keep the slash readable, because people paste these addresses into tickets.
  if (selection !== undefined)
    parts.push(`persona=${encodeURIComponent(selection.phase)}/${encodeURIComponent(selection.persona)}`);
  if (attempt !== undefined) parts.push(`attempt=${attemptName(attempt)}`);
  if (inspector !== "live") parts.push(`show=${inspector}`);
  if (journal !== "all") parts.push(`journal=${journal}`);
  if (table) parts.push("table=1");
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

export const attemptName = ({ round, attempt }: AttemptRef): string => `r${round}a${attempt}`;

function parseSelection(text: string | null): Selection | undefined {
  const slash = text?.indexOf("/") ?? -1;
  if (text === null || slash < 1 || slash === text.length - 1 || text.length > 400) return undefined;
  return { phase: text.slice(0, slash), persona: text.slice(slash + 1) };
}

function parseAttempt(text: string | null): AttemptRef | undefined {
  const found = /^r(\d{1,4})a(\d{1,4})$/.exec(text ?? "");
  return found === null ? undefined : { round: Number(found[1]), attempt: Number(found[2]) };
}

interface SessionAddress {
  readonly idOrKey: string;
  readonly tab: SessionTab | undefined;
}

/** "/s/parking-1/run"; undefined if it is not the address of a session. */
export function parseSessionAddress(path: string): SessionAddress | undefined {
  const found = /^\/s\/([^/]+)(?:\/([^/]*))?\/?$/.exec(path);
  if (found === null) return undefined;
  const tab = sessionTabs.find((name) => name === found[2]);
  const idOrKey = decoded(found[1] ?? "");
  return idOrKey === undefined ? undefined : { idOrKey, tab };
}

/** The address of a session as a person would write it. Uses its id if a browser would misread its key. */
export function addressOf({ key, id }: { readonly key: string | null; readonly id: string }): string {
  return sessionAddress(key === null || key.includes("%") || key === "." || key === ".." ? id : key);
}

export function sessionAddress(idOrKey: string, tab?: SessionTab, search = ""): string {
  return `/s/${encodeURIComponent(idOrKey)}${tab === undefined ? "" : `/${tab}`}${search}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
