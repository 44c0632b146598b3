import { isStale } from "../api/reconnect.ts";
import { useNow } from "../live/clock.ts";
import { connection, stream } from "../live/connection.ts";
import { useStore } from "../live/store.ts";
import { backPhrase, lostPhrase, signedOutPhrase } from "../sentences/connection-text.ts";
import { Icon } from "../ui/icons.tsx";
import { PhraseText } from "../ui/phrase.tsx";

/** The page may be outdated: it then uses the past tense and disables actions. */
export function useStale(): boolean {
  const state = useStore(connection);
  const now = useNow();
  return isStale(state, now);
}

/** The time of the shown data: now, or when the connection was lost, so that durations do not keep growing. */
export function useKnownNow(): number {
  const state = useStore(connection);
  const now = useNow();
  return state.kind === "lost" && isStale(state, now) ? state.lostAt : now;
}

export const lostReason = "The connection is lost; wait until it is back.";

/** A word in the top bar, never color alone. */
export function ConnectionMark() {
  const state = useStore(connection);
  const stale = useStale();
  const isSignedOut = state.kind === "lost" && state.signedOut;
  const word = isSignedOut
    ? "Signed out"
    : stale
      ? "Reconnecting"
      : state.kind === "connecting"
        ? "Connecting"
        : "Live";
  return (
    <span className={`connection ${stale ? "tone-parked" : ""}`}>
      <span className={stale ? "" : state.kind === "connecting" ? "tone-quiet" : "tone-completed"}>
        <Icon name={stale ? "lost" : "live"} />
      </span>
      <span className="connection-word">{word}</span>
    </span>
  );
}

/** Shown only if there is something to say. */
export function ConnectionStrip() {
  const state = useStore(connection);
  const now = useNow();
  if (state.kind === "back") {
    return (
      <div className="strip">
        <div className="notice completed">
          <Icon name="live" />
          <p>
            <PhraseText phrase={backPhrase(state.caughtUp, state.restarted)} />
          </p>
        </div>
      </div>
    );
  }
  if (state.kind !== "lost" || !isStale(state, now)) return null;
  return (
    <div className="strip">
      <div className="notice parked">
        <Icon name="lost" />
        <p>
          <PhraseText
            phrase={state.signedOut ? signedOutPhrase : lostPhrase(state.lostAt, state.retryAt, now)}
          />
        </p>
        <button type="button" className="button small" onClick={() => stream.retry()}>
          Try now
        </button>
      </div>
    </div>
  );
}
