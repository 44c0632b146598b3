import type { SessionRow, ViewCounts } from "../api/types.ts";
import { waitClause } from "../sentences/situation.ts";
import type { SessionsFilter, SessionsViewName } from "../url/sessions-url.ts";

export type GroupName = "needs-you" | "active" | "finished" | "retrying" | "failed";

export interface Group {
  readonly name: GroupName;
  readonly title: string;
  /** The statuses to request from the server. */
  readonly status: string;
}

const groups: Readonly<Record<GroupName, Group>> = {
  "needs-you": { name: "needs-you", title: "Needs you", status: "parked" },
  active: { name: "active", title: "Active", status: "running,queued,paused" },
  finished: { name: "finished", title: "Finished", status: "completed,failed,canceled" },
  retrying: { name: "retrying", title: "Retrying", status: "retrying" },
  failed: { name: "failed", title: "Failed", status: "failed" },
};

export function groupsOf(view: SessionsViewName): readonly Group[] {
  if (view === "all") return [groups["needs-you"], groups.active, groups.finished];
  return [groups[view]];
}

/** Whether a row currently belongs to a group. */
export function isIn({ name }: Group, { status, situation }: SessionRow): boolean {
  switch (name) {
    case "needs-you":
      return status === "parked";
    case "active":
      return status === "running" || status === "queued" || status === "paused";
    case "finished":
      return status === "completed" || status === "failed" || status === "canceled";
    case "retrying":
      return situation.kind === "running" && situation.held.length > 0;
    case "failed":
      return status === "failed";
  }
}

/** Whether the server would have listed a streamed row with these filters. */
export function passesFilter(
  row: SessionRow,
  { team, text }: SessionsFilter,
  since: string | undefined,
): boolean {
  if (team !== "" && row.team !== team) return false;
  if (since !== undefined && row.createdAt < since) return false;
  const wanted = text.trim().toLowerCase();
  return wanted === "" || `${row.key ?? ""} ${row.brief} ${row.id}`.toLowerCase().includes(wanted);
}

export function countOf(view: SessionsViewName, counts: ViewCounts): number {
  switch (view) {
    case "needs-you":
      return counts.parked;
    case "active":
      return counts.active;
    case "all":
      return counts.parked + counts.active + counts.finished;
    case "retrying":
      return counts.retrying;
    case "failed":
      return counts.failed;
  }
}

export function groupAside({ name }: Group, rows: readonly SessionRow[]): string {
  if (name !== "active") return "newest first";
  const waiting = rows.reduce(
    (sum, { situation }) => sum + (situation.kind === "running" ? situation.held.length : 0),
    0,
  );
  return waiting === 0 ? "newest first" : waitClause(waiting);
}
