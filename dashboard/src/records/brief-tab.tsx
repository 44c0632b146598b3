import { useQuery } from "@tanstack/react-query";
import { blobPath } from "../api/client.ts";
import { teamQuery } from "../api/queries.ts";
import type { TeamDefinition } from "../api/types.ts";
import { bytes, counted, score } from "../format/count.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Loaded } from "../ui/loading.tsx";
import { SourceText } from "./source-text.tsx";

export default function BriefTab() {
  const { view } = useScene();
  const team = useQuery(teamQuery(view.id));
  return (
    <div className="record-page" role="region" aria-label="Brief and team" tabIndex={0}>
      <header className="record-head">
        <h2>Brief</h2>
        <CopyButton text={view.brief} label="Copy the brief" />
      </header>
      <p className="brief-text outside">{plainText(view.brief)}</p>
      {view.attachments.length === 0 ? null : <Attachments />}
      {view.source === null ? null : <SourceText source={view.source} />}
      {view.baseline.length === 0 ? null : (
        <section aria-label="Checks before the work">
          <h2>Checks before the work</h2>
          <ul>
            {view.baseline.slice(0, 100).map(({ check, text, output }) => (
              <li key={`${check} ${output}`}>
                <span className="medium">{plainText(check)}</span>: {text}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Loaded query={team} failed="Could not read the team.">
        {(definition) => <TeamText team={definition} />}
      </Loaded>
    </div>
  );
}

/** Files that belong to the brief. */
function Attachments() {
  const { view } = useScene();
  return (
    <section aria-label="Attachments">
      <h2>Attachments</h2>
      <ul className="attachments">
        {view.attachments.map(({ name, mediaType, sha256, bytes: size }) => (
          <li key={name}>
            <a href={blobPath(view.id, sha256)} download={name} className="outside">
              {oneLine(name, 200)}
            </a>
            <span className="ink-3">
              {mediaType}, {bytes(size)}
            </span>
            {mediaType === "text/plain" ? null : (
              <img src={blobPath(view.id, sha256)} alt={oneLine(name, 200)} loading="lazy" />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function TeamText({ team }: { readonly team: TeamDefinition }) {
  return (
    <>
      <header className="record-head">
        <h2>Team {team.name}</h2>
        <p className="ink-2">As it was at the start. Fingerprint {team.fingerprint.slice(0, 12)}.</p>
      </header>
      <dl className="facts record-facts">
        {team.file === null ? null : (
          <>
            <dt>File</dt>
            <dd className="mono">{team.file}</dd>
          </>
        )}
        {team.model === null ? null : (
          <>
            <dt>Model</dt>
            <dd>{team.model}</dd>
          </>
        )}
        {team.given.map(({ phase, path }) => (
          <div key={phase} className="facts-pair">
            <dt>Given for {phase}</dt>
            <dd className="mono">{path}</dd>
          </div>
        ))}
      </dl>
      <ol className="team-phases">
        {team.phases.map(({ name, dependsOn, gate, personas }) => (
          <li key={name}>
            <div className="team-phase">
              <h3>{name}</h3>
              <p className="ink-3">
                {gate === null ? "no gate" : `gate ${score(gate)}`}
                {dependsOn.length === 0 ? "" : `, after ${dependsOn.join(", ")}`}
              </p>
            </div>
            <ul>
              {personas.slice(0, 50).map((persona) => (
                <li key={persona.name}>
                  <details>
                    <summary>
                      <span className="medium">{persona.name}</span>
                      <span className="ink-3">
                        {persona.work}
                        {persona.checks.length === 0 ? "" : `, ${counted(persona.checks.length, "check")}`}
                      </span>
                    </summary>
                    <p className="outside">
                      {persona.instructions === null ? "Its work is code." : plainText(persona.instructions)}
                    </p>
                  </details>
                </li>
              ))}
              {personas.length > 50 ? (
                <li className="ink-3">and {counted(personas.length - 50, "more persona")}</li>
              ) : null}
            </ul>
          </li>
        ))}
      </ol>
    </>
  );
}
