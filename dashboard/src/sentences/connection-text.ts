import { counted } from "../format/count.ts";
import { clockSeconds, soon } from "../format/time.ts";
import { type Phrase, strong } from "./phrase.ts";

/** "Connection lost at 14:31:07. Sessions go on as long as the server runs. Trying again in 2 s." */
export function lostPhrase(lostAt: number, retryAt: number | null, now: number): Phrase {
  const next = retryAt === null || retryAt <= now ? "Trying now." : `Trying again ${soon(retryAt - now)}.`;
  return [
    strong(`Connection lost at ${clockSeconds(lostAt)}.`),
    ` Sessions go on as long as the server runs. ${next}`,
  ];
}

/** The server runs and says no: waiting does not help, a new link does. */
export const signedOutPhrase: Phrase = [
  strong("Signed out."),
  " The server does not know this browser any more. Open the link that this prints: ",
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
