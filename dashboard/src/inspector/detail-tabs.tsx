import { Link } from "wouter";
import type { ChangedFile, CheckResult, PersonaDetail, PersonaView } from "../api/types.ts";
import { bytes } from "../format/count.ts";
import { money } from "../format/money.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { duration } from "../format/time.ts";
import { useNow } from "../live/clock.ts";
import { runWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { Status, StatusMark } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { Time } from "../ui/time.tsx";
import { type AttemptRef, sessionAddress } from "../url/session-url.ts";

interface Props {
  readonly persona: PersonaView;
  readonly onAttempt: (attempt: AttemptRef) => void;
}

const healingWord = { passed: "mended it", kept: "kept", "rolled-back": "taken back" } as const;

/** Every attempt with its outcome and cost. */
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
            {attempt.putBack?.files.map(({ path, why }) => (
              <p key={path} className="ink-2 outside">
                Put back: <code>{oneLine(path)}</code>, {oneLine(why, 400)}
              </p>
            ))}
          </li>
        );
      })}
    </ol>
  );
}

export function ContractTab({
  detail: { contract, checks, instructions },
}: {
  readonly detail: PersonaDetail;
}) {
  return (
    <div className="contract">
      {instructions === "" ? null : (
        <section>
          <h3>Instructions</h3>
          <p className="prose outside">{plainText(instructions)}</p>
        </section>
      )}
      <section>
        <h3>Checks</h3>
        {checks.length === 0 ? (
          <p className="ink-2">Nothing was checked yet.</p>
        ) : (
          <ul className="check-list">
            {checks.map((check) => (
              <CheckLine key={`${check.kind} ${check.name}`} check={check} />
            ))}
          </ul>
        )}
      </section>
      <section>
        <h3>Must deliver</h3>
        <ul className="contract-list">
          {contract.deliverables.map(({ name, files }) => (
            <li key={name}>
              {name} <code className="outside">{files.join(", ")}</code>
            </li>
          ))}
          {contract.checks.map(({ name, run, must, weight }) => (
            <li key={name}>
              {name} <code className="outside">{run.join(" ")}</code>
              <span className="ink-3">
                {must === "no-worse" ? " must not be worse" : must ? " must pass" : " only lowers the score"},
                weight {weight}
              </span>
            </li>
          ))}
        </ul>
      </section>
      {contract.outputs == null ? null : (
        <section>
          <h3>Outputs fit</h3>
          <pre className="step-output" role="region" aria-label="Schema" tabIndex={0}>
            {JSON.stringify(contract.outputs, null, 2)}
          </pre>
        </section>
      )}
      <section>
        <h3>Reads</h3>
        <p className="ink-2">
          {contract.consumes === null ? "Everything so far" : `The work of ${contract.consumes.join(", ")}`}
        </p>
      </section>
    </div>
  );
}

/** Passed, failed, or not judged, which is not the same as passed. */
export function CheckLine({ check }: { readonly check: CheckResult }) {
  const { name, status, must, message } = check;
  return (
    <li>
      {status === "passed" ? (
        <StatusMark icon="completed" tone="completed" label="passed" />
      ) : status === "failed" ? (
        <StatusMark icon="failed" tone={must ? "failed" : "quiet"} label="failed" />
      ) : (
        <StatusMark icon="unverified" tone="quiet" label="could not run" />
      )}
      <span className="medium">{name}</span>
      <span className="ink-2 outside">{oneLine(message)}</span>
      <span className="spring" />
      {must ? null : <span className="tag">optional</span>}
    </li>
  );
}

export function FilesTab({ files }: { readonly files: readonly ChangedFile[] }) {
  const { name } = useScene();
  if (files.length === 0) return <p className="ink-2">No files yet.</p>;
  return (
    <ul className="file-list">
      {files.map(({ path, after, bytes: size }) => (
        <li key={path}>
          <Icon name="file" size={13} />
          {after === null ? (
            <span className="mono one-line outside removed-file">{oneLine(path)}</span>
          ) : (
            <Link
              href={sessionAddress(name, "artifacts", `?path=${encodeURIComponent(path)}`)}
              className="mono one-line outside"
            >
              {oneLine(path)}
            </Link>
          )}
          <span className="spring" />
          <span className="ink-3">{after === null ? "removed" : bytes(size)}</span>
        </li>
      ))}
    </ul>
  );
}
