import { useEffect, useState } from "react";
import { type Announcement, announce, quietAnnouncer } from "../live/announcements.ts";
import { Store } from "../live/store.ts";

const spoken = new Store("");
let state = quietAnnouncer;
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(...arrived: readonly Announcement[]): void {
  const step = announce(state, arrived, Date.now());
  state = step.state;
  clearTimeout(timer);
  if (step.againInMs !== undefined) timer = setTimeout(() => say(), step.againInMs);
  if (step.say !== undefined) spoken.set(step.say);
}

/** The only polite live region of the page. */
export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => spoken.subscribe(() => setText(spoken.get())), []);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {text}
    </div>
  );
}
