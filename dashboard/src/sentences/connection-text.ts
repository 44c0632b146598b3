import { counted } from "../format/count.ts";
import { clockSeconds, soon } from "../format/time.ts";
import { type Phrase, strong } from "./phrase.ts";

/** "Connection lost at 14:31:07. The run goes on without this page. Trying again in 2 s." */
export function lostPhrase(lostAt: number, retryAt: number | null, now: number): Phrase {
  const next = retryAt === null || retryAt <= now ? "Trying now." : `Trying again ${soon(retryAt - now)}.`;
  return [
    strong(`Connection lost at ${clockSeconds(lostAt)}.`),
    ` The run goes on without this page. ${next}`,
  ];
}

/** "Back. 37 events caught up, none missed." */
export function backPhrase(caughtUp: number | null, restarted: boolean): Phrase {
  const events =
    caughtUp === null
      ? "Everything was read again."
      : caughtUp === 0
        ? "Nothing happened meanwhile."
        : `${counted(caughtUp, "event")} caught up, none missed.`;
  return [strong("Back."), ` ${events}${restarted ? " The server restarted." : ""}`];
}
