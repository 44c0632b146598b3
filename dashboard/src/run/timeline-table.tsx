import type { AttemptView } from "../api/types.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { duration } from "../format/time.ts";
import { useNow } from "../live/clock.ts";
import { runWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { Status } from "../status/status.tsx";
import { Time } from "../ui/time.tsx";
import type { Selection } from "../url/session-url.ts";

interface Props {
  readonly onSelect: (selection: Selection) => void;
  readonly onPicture: () => void;
}

const mostRows = 500;

/** The timeline as a table of attempts. */
export function TimelineTable({ onSelect, onPicture }: Props) {
  const { view } = useScene();
  const now = useNow();
  const attempts = view.phases.flatMap(({ name: phase, personas }) =>
    personas.flatMap((persona) =>
      persona.attempts.map((attempt) => ({ phase, persona: persona.name, attempt })),
    ),
  );
  const shown = attempts.slice(-mostRows);
  return (
    <section className="timeline-table" aria-label="Timeline as a table">
      <div className="table-scroll" role="region" aria-label="Attempts" tabIndex={0}>
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">Phase</th>
              <th scope="col">Persona</th>
              <th scope="col">Attempt</th>
              <th scope="col">Status</th>
              <th scope="col">Started</th>
              <th scope="col">Took</th>
              <th scope="col">Ended with</th>
              <th scope="col" className="end">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ phase, persona, attempt }) => (
              <tr key={`${phase} ${persona} ${attempt.round} ${attempt.attempt}`}>
                <td>{phase}</td>
                <td>
                  <button type="button" className="link" onClick={() => onSelect({ phase, persona })}>
                    {persona}
                  </button>
                </td>
                <td className="no-wrap">
                  round {attempt.round}, {attempt.attempt}
                </td>
                <td>
                  <Status status={runWord(attempt.status)} />
                </td>
                <td>
                  <Time at={attempt.startedAt} seconds />
                </td>
                <td className="no-wrap">{duration(lengthOf(attempt, now))}</td>
                <td className="outside">{endedWith(attempt)}</td>
                <td className="end">{attempt.costUsd === null ? "" : money(attempt.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {attempts.length > shown.length ? (
          <p className="ink-3 table-more">
            The newest {mostRows} of {attempts.length.toLocaleString("en-US")} attempts.
          </p>
        ) : null}
      </div>
      <div className="legend">
        <span className="spring" />
        <button type="button" className="legend-button" onClick={onPicture}>
          As a picture <kbd className="key">T</kbd>
        </button>
      </div>
    </section>
  );
}

const lengthOf = ({ startedAt, endedAt }: AttemptView, now: number): number =>
  (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt);

function endedWith({ failure, status, healed, waits }: AttemptView): string {
  if (failure !== null) return oneLine(failure.message, 200);
  const [wait] = waits;
  if (status === "running") return wait === undefined ? "" : `waited for ${wait.dependency}`;
  return healed ? "healed" : "";
}
