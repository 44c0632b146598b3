import { Link } from "wouter";
import type { AttemptView, StoppedPersona } from "../api/types.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { duration } from "../format/time.ts";
import { runWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";
import { Time } from "../ui/time.tsx";
import { artifactsQuery } from "../url/artifacts-url.ts";
import { attemptName, formatRunQuery, sessionAddress } from "../url/session-url.ts";
import { stoppedPersona } from "./stopped-persona.ts";

function markOf(status: AttemptView["status"]) {
  const { icon, tone } = runWord(status);
  return { icon, tone };
}

/** Every attempt of the persona that stopped. */
export function AttemptTable({ of }: { readonly of: StoppedPersona | undefined }) {
  const { view, name } = useScene();
  const found = stoppedPersona(view, of);
  if (found === undefined || found.persona.attempts.length === 0) return null;
  const { phase, persona } = found;
  const ref = (attempt: AttemptView) => `attempt:${phase}/${persona.name}/${attemptName(attempt)}`;
  return (
    <section aria-label={`Attempts of ${persona.name}`}>
      <div className="table-scroll-x" role="region" aria-label="Table of attempts" tabIndex={0}>
        <table className="plain-table attempt-table">
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Started</th>
              <th scope="col">Took</th>
              <th scope="col">Ended with</th>
              <th scope="col" className="end">
                Cost
              </th>
              <th scope="col">
                <span className="unseen">Look</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {persona.attempts.map((attempt, index) => {
              const before = persona.attempts[index - 1];
              const steps = sessionAddress(
                name,
                "run",
                formatRunQuery({
                  selection: { phase, persona: persona.name },
                  attempt,
                  inspector: "live",
                  journal: "all",
                  table: false,
                }),
              );
              const compare = sessionAddress(
                name,
                "artifacts",
                artifactsQuery({
                  at: ref(attempt),
                  with: before === undefined ? undefined : ref(before),
                  path: undefined,
                }),
              );
              return (
                <tr key={attemptName(attempt)}>
                  <td>
                    <span className="attempt-name">
                      <StatusMark {...markOf(attempt.status)} label={attempt.status} />
                      round {attempt.round}, {attempt.attempt} of {persona.maxAttempts}
                    </span>
                  </td>
                  <td>
                    <Time at={attempt.startedAt} seconds />
                  </td>
                  <td>
                    {attempt.endedAt === null
                      ? ""
                      : duration(Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt))}
                  </td>
                  <td className="ended-with outside">
                    {attempt.failure === null ? (
                      attempt.status
                    ) : (
                      <>
                        {attempt.failure.source === "error" ? "" : `${attempt.failure.source}: `}
                        <code>{oneLine(attempt.failure.message, 80)}</code>
                      </>
                    )}
                    {attempt.stuck ? (
                      <p className="ink-2">Ended its round: the same failure on the same files.</p>
                    ) : null}
                    {attempt.putBack === null ? null : (
                      <p className="ink-2">
                        Put back:{" "}
                        <code>{oneLine(attempt.putBack.files.map(({ path }) => path).join(", "), 120)}</code>
                      </p>
                    )}
                  </td>
                  <td className="end">{attempt.costUsd === null ? "" : money(attempt.costUsd)}</td>
                  <td className="end">
                    <Link href={index === 0 ? steps : compare}>
                      {index === 0 ? "Open" : "Diff"}
                      <span className="unseen">
                        {" "}
                        round {attempt.round}, attempt {attempt.attempt}
                      </span>
                    </Link>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
