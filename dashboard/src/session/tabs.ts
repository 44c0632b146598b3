import type { SessionView } from "../api/types.ts";
import type { SessionTab } from "../url/session-url.ts";

export interface TabInfo {
  readonly tab: SessionTab;
  readonly name: string;
  readonly count: number | undefined;
}

/** Parked for any reason, or failed: the tab Stopped comes first. */
const isStopped = ({ status }: Pick<SessionView, "status">): boolean =>
  status === "parked" || status === "failed";

export function tabsOf(
  view: Pick<SessionView, "status" | "artifacts" | "phases" | "decisions">,
): readonly TabInfo[] {
  const sealed = view.phases.filter(({ checkpoint }) => checkpoint !== null).length + 1;
  return [
    ...(isStopped(view) ? [{ tab: "stopped", name: "Stopped", count: undefined } as const] : []),
    { tab: "run", name: "Run", count: undefined },
    { tab: "artifacts", name: "Artifacts", count: view.artifacts.length },
    { tab: "checkpoints", name: "Checkpoints", count: sealed },
    { tab: "decisions", name: "Decisions", count: view.decisions.length },
    { tab: "budget", name: "Budget", count: undefined },
    { tab: "brief", name: "Brief and team", count: undefined },
  ];
}

/** The tab of an address. If a session was resumed, "Stopped" leads to its run. */
export function tabToShow(view: Pick<SessionView, "status">, wanted: SessionTab | undefined): SessionTab {
  if (wanted === undefined) return isStopped(view) ? "stopped" : "run";
  return wanted === "stopped" && !isStopped(view) ? "run" : wanted;
}
