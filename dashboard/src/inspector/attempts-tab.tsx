import type { PersonaView } from "../api/types.ts";
import { money } from "../format/money.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { duration } from "../format/time.ts";
import { useNow } from "../live/use-now.ts";
import { runWord } from "../sentences/status-word.ts";
import { Status } from "../status/status.tsx";
import { Time } from "../ui/time.tsx";
import type { AttemptRef } from "../url/session-url.ts";

interface Props {
  readonly persona: PersonaView;
  readonly onAttempt: (attempt: AttemptRef) => void;
}

const healingWord = { passed: "mended it", kept: "kept", "rolled-back": "taken back" } as const;

/** Every attempt stays: what it ended with, what it cost. */
export function AttemptsTab({ persona, onAttempt }: Props) {
  const now = useNow();
  if (persona.attempts.length === 0) return <p className="ink-2">It has not started.</p>;
  return (
    <ol className="attempt-list" reversed>
      {persona.attempts.toReversed().map((attempt) => {
        const { round, attempt: number, status, failure, startedAt, endedAt, costUsd } = attempt;
        const took = (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt);
        return (
          <li key={`${round} ${number}`}>
            <p className="attempt-head">
              <Status status={runWord(status)} />
              <span>
                round {round}, attempt {number} of {persona.maxAttempts}
                {attempt.healed ? ", healed" : ""}
              </span>
              <span className="spring" />
              <button type="button" className="link" onClick={() => onAttempt({ round, attempt: number })}>
                Steps
              </button>
            </p>
            <p className="ink-3">
              <Time at={startedAt} seconds />, {duration(took)}
              {costUsd === null ? "" : `, ${money(costUsd)}`}
            </p>
            {failure === null ? null : (
              <div className="attempt-failure">
                <p className="outside">
                  <span className="mono">{failure.source}</span> {oneLine(failure.message, 400)}
                </p>
                {failure.details === undefined ? null : (
                  <pre className="outside">{plainText(failure.details)}</pre>
                )}
              </div>
            )}
            {attempt.healing.map(({ healer, action, outcome }) => (
              <p key={`${healer} ${action}`} className="ink-2 outside">
                {healer}, {healingWord[outcome]}: {oneLine(action, 400)}
              </p>
            ))}
          </li>
        );
      })}
    </ol>
  );
}
