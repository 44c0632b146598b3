import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { transcriptQuery } from "../api/queries.ts";
import type { PersonaView } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { useScene } from "../session/context.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Waiting } from "../ui/loading.tsx";
import { useDebounced } from "../ui/use-debounced.ts";
import type { AttemptRef } from "../url/session-url.ts";
import { searchText } from "./item-text.ts";
import { ItemView } from "./item-view.tsx";

interface Props {
  readonly phase: string;
  readonly persona: PersonaView;
  /** Set for an attempt other than the newest. */
  readonly attempt: AttemptRef | undefined;
  readonly onAttempt: (attempt: AttemptRef) => void;
}

/** Everything that was said in one attempt. */
export function ConversationTab({ phase, persona, attempt, onAttempt }: Props) {
  const { view } = useScene();
  const { attempts } = persona;
  const found = attempts.findIndex(
    (each) => each.round === attempt?.round && each.attempt === attempt.attempt,
  );
  const at = found === -1 ? attempts.length - 1 : found;
  const shown = attempts[at];
  const query = useInfiniteQuery({
    ...transcriptQuery(view.id, phase, persona.name, at + 1, shown?.endedAt === null),
    enabled: shown !== undefined,
  });
  const [typed, setTyped] = useState("");
  const wanted = useDebounced(typed.trim().toLowerCase(), 150);
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const matching = useMemo(
    () => (wanted === "" ? items : items.filter((item) => searchText(item).includes(wanted))),
    [items, wanted],
  );
  const linked = useLinkedStep(items.length > 0);
  if (shown === undefined) return <p className="page-part ink-2">It has not started.</p>;
  return (
    <div className="inspector-scroll talk" role="region" aria-label="Conversation" tabIndex={0}>
      <div className="talk-bar">
        <label>
          <span className="unseen">Attempt</span>
          <select
            className="field"
            value={at}
            onChange={({ target }) => {
              const chosen = attempts[Number(target.value)];
              if (chosen !== undefined) onAttempt({ round: chosen.round, attempt: chosen.attempt });
            }}
          >
            {attempts.map(({ round, attempt: number, status }, index) => (
              <option key={`${round} ${number}`} value={index}>
                Attempt {index + 1}, {status}
              </option>
            ))}
          </select>
        </label>
        <label className="spring">
          <span className="unseen">Search the conversation</span>
          <input
            className="field"
            type="search"
            placeholder="Search"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <span className="ink-3" role="status">
          {wanted === ""
            ? counted(items.length, "item")
            : `${matching.length} of ${counted(items.length, "item")}`}
        </span>
      </div>
      {query.isPending ? <Waiting onRetry={() => void query.refetch()} /> : null}
      {query.isError ? (
        <ErrorNotice
          error={query.error}
          what="Could not read the conversation."
          onRetry={() => void query.refetch()}
        />
      ) : null}
      <ol className="talk-list">
        {matching.map((item, index) => (
          <ItemView
            key={`${item.kind} ${item.seq} ${index}`}
            item={item}
            address={`${location.pathname}${location.search}#step-${item.seq}`}
            isFirst={item.seq !== matching[index - 1]?.seq}
            isLinked={item.seq !== null && item.seq === linked}
          />
        ))}
      </ol>
      {query.hasNextPage ? (
        <p className="page-part">
          <button
            type="button"
            className="button"
            disabled={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            Show more
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** The step that the address names. A browser has looked for it before the items were read. */
function useLinkedStep(isRead: boolean): number | undefined {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = (): void => setHash(location.hash);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const seq = Number(/^#step-(\d{1,15})$/.exec(hash)?.[1] ?? Number.NaN);
  useEffect(() => {
    if (isRead) document.getElementById(`step-${seq}`)?.scrollIntoView({ block: "start" });
  }, [isRead, seq]);
  return Number.isNaN(seq) ? undefined : seq;
}
