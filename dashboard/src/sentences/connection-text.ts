import { counted } from "../format/count.ts";
import { clockSeconds, soon } from "../format/time.ts";
import { type Phrase, strong } from "./phrase.ts";

/** "Connection lost at 14:31:07. Sessions continue while the server runs. Trying again in 2 s." */
export function lostPhrase(lostAt: number, retryAt: number | null, now: number): Phrase {
  const next = retryAt === null || retryAt <= now ? "Trying now." : `Trying again ${soon(retryAt - now)}.`;
  return [
    strong(`Connection lost at ${clockSeconds(lostAt)}.`),
    ` Sessions continue while the server runs. ${next}`,
  ];
}

/** Waiting does not help here, but a new link does. */
export const signedOutPhrase: Phrase = [
  strong("Signed out."),
  " The server no longer knows this browser. Open the link that this command prints: ",
  strong("maestro serve --link"),
];

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
