import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { personaQuery } from "../api/queries.ts";
import type { PersonaDetail, PersonaView } from "../api/types.ts";
import { ConversationTab } from "../conversation/conversation-tab.tsx";
import { tokens } from "../format/count.ts";
import { money } from "../format/money.ts";
import { duration } from "../format/time.ts";
import { useNow } from "../live/clock.ts";
import { followedText } from "../live/live-persona.ts";
import { personaWord } from "../run/persona-state.ts";
import { useScene } from "../session/context.ts";
import { useKnownNow } from "../shell/connection-view.tsx";
import { Status } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";
import { SpendBar } from "../ui/spend-bar.tsx";
import { TabList } from "../ui/tab-list.tsx";
import type { InspectorTab, RunQuery, Selection } from "../url/session-url.ts";
import { AttemptsTab, ContractTab, FilesTab } from "./detail-tabs.tsx";
import { LiveTab } from "./live-tab.tsx";

interface Props {
  readonly selection: Selection;
  readonly query: RunQuery;
  /** Shown over the page instead of beside it. */
  readonly drawer: boolean;
  readonly onChange: (part: Partial<RunQuery>) => void;
  readonly onClose: () => void;
}

export function Inspector({ selection, query, drawer, onChange, onClose }: Props) {
  const { view } = useScene();
  const { phase, persona: name } = selection;
  const persona = view.phases
    .find((each) => each.name === phase)
    ?.personas.find((each) => each.name === name);
  const detail = useQuery(personaQuery(view.id, phase, name));
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    followedText.set(`${phase}/${name}`);
    return () => followedText.set(undefined);
  }, [phase, name]);
  useEffect(() => {
    if (drawer) head.current?.focus();
  }, [drawer]);
  if (persona === undefined)
    return (
      <aside className="inspector" aria-label="Persona">
        <p className="page-part ink-2">
          This session has no persona {name} in {phase}.
        </p>
      </aside>
    );
  const tabs: readonly { readonly id: InspectorTab; readonly name: string; readonly count?: number }[] = [
    { id: "live", name: persona.status === "running" ? "Live" : "Steps" },
    { id: "conversation", name: "Conversation" },
    { id: "attempts", name: "Attempts", count: persona.attempts.length },
    { id: "files", name: "Files", ...(detail.data && { count: detail.data.files.length }) },
    { id: "contract", name: "Contract" },
  ];
  const withDetail = (show: (detail: PersonaDetail) => React.ReactNode) => (
    <div className="inspector-scroll" role="region" aria-label={`${name}, details`} tabIndex={0}>
      <Loaded query={detail} failed="Could not read the persona.">
        {show}
      </Loaded>
    </div>
  );
  return (
    <aside className={`inspector ${drawer ? "drawer" : ""}`} aria-label={`Persona ${name}`}>
      <header className="inspector-head">
        <h2 ref={head} tabIndex={-1} className="one-line">
          {name}
        </h2>
        <PersonaStatus persona={persona} />
        <span className="spring" />
        {drawer ? (
          <button type="button" className="button bare icon" aria-label="Close" onClick={onClose}>
            <Icon name="cross" />
          </button>
        ) : null}
      </header>
      <PersonaFacts persona={persona} detail={detail.data} />
      <TabList
        label={`Parts of ${name}`}
        tabs={tabs}
        current={query.inspector}
        onTab={(inspector) => onChange({ inspector })}
      />
      <div
        className="inspector-body"
        role="tabpanel"
        aria-label={tabs.find(({ id }) => id === query.inspector)?.name ?? ""}
      >
        {query.inspector === "live" ? (
          <LiveTab phase={phase} persona={persona} attempt={query.attempt} />
        ) : query.inspector === "attempts" ? (
          <div className="inspector-scroll" role="region" aria-label="Attempts" tabIndex={0}>
            <AttemptsTab
              persona={persona}
              onAttempt={(attempt) => onChange({ attempt, inspector: "live" })}
            />
          </div>
        ) : query.inspector === "files" ? (
          withDetail(({ files }) => <FilesTab files={files} />)
        ) : query.inspector === "contract" ? (
          withDetail((data) => <ContractTab detail={data} />)
        ) : (
          <ConversationTab
            phase={phase}
            persona={persona}
            attempt={query.attempt}
            onAttempt={(attempt) => onChange({ attempt })}
          />
        )}
      </div>
    </aside>
  );
}

function PersonaStatus({ persona }: { readonly persona: PersonaView }) {
  const { stale } = useScene();
  const now = useNow();
  if (stale && persona.status === "running") return <span className="ink-3">was running</span>;
  return <Status status={personaWord(persona, now)} />;
}

function PersonaFacts({
  persona,
  detail,
}: {
  readonly persona: PersonaView;
  readonly detail: PersonaDetail | undefined;
}) {
  const { view } = useScene();
  const now = useKnownNow();
  const last = persona.attempts.at(-1);
  const { usage } = persona;
  const limit = detail?.limitUsd ?? null;
  const reserved = detail?.reservedUsd ?? 0;
  const cached = usage.cachedInputTokens === 0 ? "" : ` (${tokens(usage.cachedInputTokens)} cached)`;
  const model = detail?.model ?? view.model;
  return (
    <dl className="inspector-facts">
      {last === undefined ? null : (
        <>
          <dt>Attempt</dt>
          <dd>
            <b className="strong">
              {last.attempt} of {persona.maxAttempts}
            </b>
            , round {last.round} of {Math.max(persona.maxRounds, last.round)},{" "}
            {last.endedAt === null ? "for" : "took"}{" "}
            {duration((last.endedAt === null ? now : Date.parse(last.endedAt)) - Date.parse(last.startedAt))}
          </dd>
        </>
      )}
      {model === null ? null : (
        <>
          <dt>Model</dt>
          <dd>{model}</dd>
        </>
      )}
      <dt>Tokens</dt>
      <dd>
        {tokens(usage.inputTokens)} in{cached}, {tokens(usage.outputTokens)} out
      </dd>
      <dt>Spent</dt>
      <dd className="spent-fact">
        <span>
          <b className="strong">{money(usage.costUsd)}</b>
          {reserved < 0.005 ? "" : ` + ${money(reserved)} reserved`}
          {limit === null ? "" : ` of ${money(limit)}`}
        </span>
        {limit === null || usage.costUsd === null ? null : (
          <SpendBar used={usage.costUsd} reserved={reserved} limit={limit} width={96} />
        )}
      </dd>
    </dl>
  );
}
