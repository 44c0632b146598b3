import type { SessionEvent } from "../index.ts";
import { endsDrive } from "../journal/facts.ts";
import type { Activity } from "./schemas/situation.ts";
import { activityAfter } from "./views/activity.ts";

/** The latest activity of each session that this process drives. */
export class LiveActivity {
  readonly #latest = new Map<string, { readonly persona: string; readonly activity: Activity }>();

  hear(event: SessionEvent): void {
    if (event.kind === "step") {
      const { sessionId, persona, step, name, at } = event;
      if (persona !== null && step !== "wait")
        this.#latest.set(sessionId, { persona, activity: activityAfter(name, at) });
    }
    if (endsDrive(event)) this.#latest.delete(event.sessionId);
  }

  of(id: string): { readonly persona: string; readonly activity: Activity } | undefined {
    return this.#latest.get(id);
  }
}
