import type { Activity } from "../schemas/situation.ts";
import { isoTime } from "./iso-time.ts";

const doingOfTool: Readonly<Record<string, Activity["doing"]>> = {
  read_file: "reads",
  list_files: "lists",
  search_files: "searches",
  edit_file: "edits",
  write_file: "writes",
  run_check: "checks",
  submit: "submits",
};

/** What a persona does, from its last step. `kind`: of the step; undefined where only its name is known. */
export function activityView(kind: string | undefined, name: string, at: number): Activity {
  const doing = doingOf(kind, name);
  return { doing, target: doing === "runs" || doing === "checks" ? name : null, since: isoTime(at) };
}

function doingOf(kind: string | undefined, name: string): Activity["doing"] {
  if (kind === "check") return "checks";
  if (kind === "model" || (kind === undefined && isModelName(name))) return "thinks";
  return (kind === "function" ? undefined : doingOfTool[name]) ?? "runs";
}

const isModelName = (name: string): boolean => name === "simulated" || /^[a-z][a-z0-9-]*\/\S+$/.test(name);
