import { oneLine, plainText } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { Moment } from "../ui/time.tsx";

export default function DecisionsTab() {
  const { view } = useScene();
  if (view.decisions.length === 0) return <p className="page-part ink-2">No decisions were recorded yet.</p>;
  return (
    <div className="record-page" role="region" aria-label="Decisions" tabIndex={0}>
      <header className="record-head">
        <h2>Decisions</h2>
        <p className="ink-2">What was chosen, why, and what was rejected. Newest first.</p>
      </header>
      <ol className="decision-list">
        {view.decisions.toReversed().map(({ choice, reason, rejected, persona, phase, at }, index) => (
          <li key={index}>
            <div>
              <h3 className="outside">{oneLine(choice, 600)}</h3>
              <p className="outside">{plainText(reason)}</p>
              {rejected.length === 0 ? null : (
                <ul className="rejected">
                  {rejected.map((other) => (
                    <li key={other.choice} className="outside">
                      <span className="ink-3">rejected</span>{" "}
                      <span className="medium">{oneLine(other.choice, 300)}</span>
                      {other.reason === "" ? "" : `: ${oneLine(other.reason, 600)}`}
                    </li>
                  ))}
                </ul>
              )}
            </div>
            <p className="decision-by ink-3">
              {persona ?? "Planned"}
              <br />
              {phase === null ? "" : `${phase}, `}
              <Moment at={at} />
            </p>
          </li>
        ))}
      </ol>
    </div>
  );
}
