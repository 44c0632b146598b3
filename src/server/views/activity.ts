import type { AttemptTrail } from "../feed/chronicle.ts";
import type { Activity } from "../schemas/situation.ts";
import { targetOf } from "./asked-tools.ts";
import { isoTime } from "./iso-time.ts";

const doingOfTool: ReadonlyMap<string, Activity["doing"]> = new Map([
  ["read_file", "reads"],
  ["list_files", "lists"],
  ["search_files", "searches"],
  ["edit_file", "edits"],
  ["write_file", "writes"],
  ["run_check", "checks"],
  ["submit", "submits"],
]);

/** What a persona does now, as far as its record says: steps are recorded when they are done. */
export function activityView({ lastStep, modelCalls, asked }: Trail): Activity | null {
  if (lastStep === undefined) return null;
  const since = isoTime(lastStep.at);
  const [next] = asked;
  if (next !== undefined) {
    const doing = doingOfTool.get(next.tool);
    const target = targetOf(next);
    if (doing === undefined) return { doing: "runs", target: next.tool, since };
    return { doing, target: target === "" ? null : target, since };
  }
  return modelCalls > 0
    ? { doing: "thinks", target: null, since }
    : { doing: "ran", target: lastStep.name, since };
}

/** The same where only the name of the last step is known: after a model's tool its model goes on. */
export function activityAfter(name: string, at: number): Activity {
  const since = isoTime(at);
  const isOfModel = isModelName(name) || doingOfTool.has(name);
  return isOfModel ? { doing: "thinks", target: null, since } : { doing: "ran", target: name, since };
}

type Trail = Pick<AttemptTrail, "lastStep" | "modelCalls" | "asked">;

const isModelName = (name: string): boolean => name === "simulated" || /^[a-z][a-z0-9-]*\/\S+$/.test(name);
