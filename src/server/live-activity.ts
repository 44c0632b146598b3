import type { SessionEvent } from "../index.ts";
import type { Activity } from "./schemas/situation.ts";
import { activityAfter } from "./views/activity.ts";

/** What each session that this process drives did last. */
export class LiveActivity {
  readonly #latest = new Map<string, { readonly persona: string; readonly activity: Activity }>();

  hear(event: SessionEvent): void {
    if (event.kind === "step")
      this.#latest.set(event.sessionId, {
        persona: event.persona,
        activity: activityAfter(event.name, event.at),
      });
    else if (event.kind === "session.status") this.#latest.delete(event.sessionId);
  }

  of(id: string): { readonly persona: string; readonly activity: Activity } | undefined {
    return this.#latest.get(id);
  }
}
