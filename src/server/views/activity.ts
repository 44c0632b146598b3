import { isTool, tools } from "../../api/machine.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { simulatedName } from "../../domain/simulated.ts";
import type { AttemptTrail } from "../../journal/chronicle.ts";
import { type RequestedTool, targetOf } from "../../journal/step-facts.ts";
import type { Activity } from "../schemas/situation.ts";

/** Derived from the last recorded step. A step is recorded when it ends, so the next one is running. */
export function activityView(
  { lastStep, modelCalls }: Pick<AttemptTrail, "lastStep" | "modelCalls">,
  pending: readonly RequestedTool[],
): Activity | null {
  if (lastStep === undefined) return null;
  const since = isoTime(lastStep.at);
  const [next] = pending;
  if (next !== undefined) {
    const target = targetOf(next);
    if (!isTool(next.tool)) return { doing: "runs", target: next.tool, since };
    return { doing: tools[next.tool].doing, target: target === "" ? null : target, since };
  }
  return modelCalls > 0
    ? { doing: "thinks", target: null, since }
    : { doing: "ran", target: lastStep.name, since };
}

/** Only the name of the last step is known here. After a tool, the model continues. */
export function activityAfter(name: string, since: string): Activity {
  const isOfModel = isModelName(name) || isTool(name);
  return isOfModel ? { doing: "thinks", target: null, since } : { doing: "ran", target: name, since };
}

const isModelName = (name: string): boolean => name === simulatedName || /^[a-z][a-z0-9-]*\/\S+$/.test(name);
