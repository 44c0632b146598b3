import type { CheckResult, PersonaDetail } from "../api/types.ts";
import { oneLine } from "../format/plain-text.ts";
import { StatusMark } from "../status/status.tsx";

export function ContractTab({ detail: { contract, checks } }: { readonly detail: PersonaDetail }) {
  return (
    <div className="contract">
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
                {must ? " must pass" : " only lowers the score"}, weight {weight}
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

/** Passed, failed, or could not be judged, which is not the same as good. */
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
