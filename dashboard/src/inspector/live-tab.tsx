import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { client } from "../api/client.ts";
import type { PersonaView, StepBlock } from "../api/types.ts";
import { count, counted } from "../format/count.ts";
import { plainText } from "../format/plain-text.ts";
import { age } from "../format/time.ts";
import { useShortcut } from "../keys/shortcuts.ts";
import { useNow } from "../live/clock.ts";
import { livePersona, mergeBlocks } from "../live/live-persona.ts";
import { useStore } from "../live/store.ts";
import { useScene } from "../session/context.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { Waiting } from "../ui/loading.tsx";
import { Placed } from "../ui/placed.tsx";
import type { AttemptRef } from "../url/session-url.ts";
import { StepBlockView } from "./step-block.tsx";
import { useFollow } from "./use-follow.ts";

interface Props {
  readonly phase: string;
  readonly persona: PersonaView;
  /** Set for an attempt other than the newest. */
  readonly attempt: AttemptRef | undefined;
}

const pageSize = 60;

type Writing = NonNullable<ReturnType<typeof livePersona.get>["writing"]>;

export function LiveTab({ phase, persona, attempt }: Props) {
  const { view } = useScene();
  const last = persona.attempts.at(-1);
  const isNewest =
    attempt === undefined || (attempt.round === last?.round && attempt.attempt === last.attempt);
  const of = attempt ?? (last === undefined ? undefined : { round: last.round, attempt: last.attempt });
  const query = useInfiniteQuery({
    queryKey: ["steps", view.id, phase, persona.name, of?.round, of?.attempt],
    queryFn: ({ pageParam, signal }) =>
      client.steps(
        view.id,
        phase,
        persona.name,
        { round: of?.round, attempt: of?.attempt, before: pageParam, limit: pageSize },
        signal,
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ steps, earlier }) => (earlier > 0 ? steps[0]?.seq : undefined),
    structuralSharing: false,
    enabled: of !== undefined,
  });
  const live = useStore(livePersona);
  const isFollowed = isNewest && live.place === `${phase}/${persona.name}`;
  const isLive = isFollowed && persona.status === "running";
  const startedAt = last?.startedAt ?? "";
  const blocks = useMemo(() => {
    const read = [...(query.data?.pages ?? [])].toReversed().flatMap(({ steps }) => steps);
    // Keep the shown steps when the persona ends. Earlier steps belong to another attempt.
    return isFollowed
      ? mergeBlocks(
          read,
          live.blocks.filter(({ at }) => at >= startedAt),
        )
      : read;
  }, [query.data, isFollowed, startedAt, live.blocks]);

  if (of === undefined) return <p className="page-part ink-2">It has not started.</p>;
  if (query.data === undefined)
    return query.error === null ? (
      <Waiting rows={6} onRetry={() => void query.refetch()} />
    ) : (
      <div className="page-part">
        <ErrorNotice
          what="Could not read the steps."
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      </div>
    );
  return (
    <Stream
      blocks={blocks}
      earlier={query.data.pages.at(-1)?.earlier ?? 0}
      onEarlier={() => void query.fetchNextPage()}
      writing={isLive ? live.writing : null}
      running={isLive}
    />
  );
}

interface StreamProps {
  readonly blocks: readonly StepBlock[];
  readonly earlier: number;
  readonly onEarlier: () => void;
  readonly writing: Writing | null;
  readonly running: boolean;
}

function Stream({ blocks, earlier, onEarlier, writing, running }: StreamProps) {
  const { stale } = useScene();
  const scroll = useRef<HTMLDivElement>(null);
  const items = blocks.length + (writing === null ? 0 : 1);
  const virtualizer = useVirtualizer({
    count: items,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (blocks[index]?.kind === "tool" ? 36 : 90),
    getItemKey: (index) => blocks[index]?.seq ?? "writing",
    overscan: 10,
    paddingStart: 8,
    paddingEnd: 16,
    gap: 8,
  });
  const total = virtualizer.getTotalSize();
  const { following, setFollowing, unseen } = useFollow(scroll, total, blocks.length);
  useShortcut("l", () => setFollowing(!following), running);
  const firstSeq = blocks[0]?.seq;
  const before = useRef({ firstSeq, total });
  useLayoutEffect(() => {
    const { firstSeq: first, total: height } = before.current;
    // Earlier steps were inserted above, so keep the reader's scroll position.
    if (first !== undefined && firstSeq !== undefined && firstSeq < first)
      scroll.current?.scrollBy(0, total - height);
    before.current = { firstSeq, total };
  }, [firstSeq, total]);

  return (
    <>
      <div className="stream-scroll" ref={scroll} role="log" aria-live="off" aria-label="Steps" tabIndex={0}>
        {earlier === 0 ? null : (
          <button
            type="button"
            className="button bare small earlier-steps"
            onClick={() => {
              setFollowing(false);
              onEarlier();
            }}
          >
            Show {counted(Math.min(earlier, pageSize), "earlier step")}
          </button>
        )}
        <Placed at={{ height: total }} className="stream-body">
          {virtualizer.getVirtualItems().map(({ index, start, key }) => {
            const block = blocks[index];
            return (
              <Placed
                key={key}
                at={{ transform: `translateY(${start}px)` }}
                className="stream-item"
                data-index={index}
                measure={virtualizer.measureElement}
              >
                {block !== undefined ? (
                  <StepBlockView block={block} />
                ) : writing === null ? null : (
                  <p className="prose outside">
                    {plainText(writing.text)}
                    {stale ? null : <span className="caret" aria-hidden="true" />}
                  </p>
                )}
              </Placed>
            );
          })}
        </Placed>
        {items === 0 ? <p className="ink-3 page-part">No steps yet.</p> : null}
      </div>
      {running ? (
        <FollowBar
          following={following}
          unseen={unseen}
          writing={writing}
          onToggle={() => setFollowing(!following)}
        />
      ) : null}
    </>
  );
}

interface FollowBarProps {
  readonly following: boolean;
  readonly unseen: number;
  readonly writing: Writing | null;
  readonly onToggle: () => void;
}

function FollowBar({ following, unseen, writing, onToggle }: FollowBarProps) {
  const { stale } = useScene();
  const counters = useSlowly(writing, 250);
  const now = useNow();
  return (
    <div className="follow-bar">
      {following ? (
        <span className={stale ? "follow-word ink-3" : "follow-word tone-running"}>
          <Icon name="live" />
          {stale ? "Was following" : "Following"}
        </span>
      ) : (
        <button type="button" className="button small" onClick={onToggle}>
          <Icon name="down" size={13} />
          {unseen === 0 ? "To the end" : `${count(unseen)} new`}
        </button>
      )}
      {counters === null ? null : (
        <span className="ink-3 one-line">
          {counters.call}, {count(counters.outputTokens)} tokens out,{" "}
          {age(now - Date.parse(counters.startedAt))}
        </span>
      )}
      <span className="spring" />
      {following ? (
        <button type="button" className="legend-button" onClick={onToggle}>
          Stop following <kbd className="key">L</kbd>
        </button>
      ) : null}
    </div>
  );
}

/** Updates counters at most four times a second, so that they stay readable. */
function useSlowly<Value>(value: Value, milliseconds: number): Value {
  const [shown, setShown] = useState(value);
  const newest = useRef(value);
  useEffect(() => {
    newest.current = value;
  });
  useEffect(() => {
    const timer = setInterval(() => setShown(newest.current), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
  return shown;
}
