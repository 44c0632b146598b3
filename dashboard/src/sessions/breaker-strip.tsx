import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { breakersQuery } from "../api/queries.ts";
import { useNow } from "../live/clock.ts";
import { breakerNotice } from "../sentences/breaker-text.ts";
import { StatusMark } from "../status/status.tsx";
import { PhraseText } from "../ui/phrase.tsx";

/** Shown only while a breaker is not closed. */
export function BreakerStrip() {
  const { data } = useQuery(breakersQuery);
  const now = useNow();
  const tripped = data?.breakers.filter(({ state }) => state !== "closed") ?? [];
  if (tripped.length === 0) return null;
  const open = tripped.filter(({ state }) => state === "open").length;
  return (
    <div className="breaker-strip">
      <span className={open > 0 ? "tone-failed breaker-count" : "tone-parked breaker-count"}>
        <StatusMark icon={open > 0 ? "breaker-open" : "breaker-half-open"} size={17} />
        {open > 0 ? `${open} open` : `${tripped.length} half-open`}
      </span>
      <p>
        {tripped.slice(0, 3).map((breaker) => (
          <span key={breaker.name}>
            <PhraseText phrase={breakerNotice(breaker, now)} />{" "}
          </span>
        ))}
        <span className="wide-only">Other sessions are not affected.</span>
      </p>
      <Link href="/health">Health</Link>
    </div>
  );
}
