import { age, clock, clockSeconds, moment } from "../format/time.ts";
import { useNow } from "../live/clock.ts";

/** Local time, with UTC in the title for comparison with logs. */
export function Time({ at, seconds = false }: { readonly at: string; readonly seconds?: boolean }) {
  const parsed = Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {seconds ? clockSeconds(parsed) : clock(parsed)}
    </time>
  );
}

/** Includes the day if it was not today. */
export function Moment({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={at}>
      {moment(Date.parse(at), now)}
    </time>
  );
}

/** "12 m": how long ago. */
export function Age({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={at}>
      {age(now - Date.parse(at))}
    </time>
  );
}
