import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";
import type { JournalFilter, UsageBy } from "./types.ts";

/** The queries and their cache keys. The stream keeps sessions fresh; the rest is polled. */
const minute = 60_000;

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => client.status(signal),
  refetchInterval: minute,
});

export const breakersQuery = queryOptions({
  queryKey: ["breakers"],
  queryFn: ({ signal }) => client.breakers(signal),
  refetchInterval: minute,
});

export const ticketsQuery = queryOptions({
  queryKey: ["tickets"],
  queryFn: ({ signal }) => client.tickets(signal),
  refetchInterval: minute / 2,
});

export const teamsQuery = queryOptions({
  queryKey: ["teams"],
  queryFn: ({ signal }) => client.teams(signal),
  staleTime: minute,
});

const sessionsPageSize = 200;

interface SessionsQueryFilter {
  readonly status: string;
  readonly text: string;
  readonly team: string;
  readonly since: string | undefined;
}

export const sessionsQuery = ({ status, text, team, since }: SessionsQueryFilter) =>
  infiniteQueryOptions({
    queryKey: ["sessions", status, text, team, since ?? ""],
    queryFn: ({ pageParam, signal }) =>
      client.sessions({ status, q: text, team, since, cursor: pageParam, limit: sessionsPageSize }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["session", id],
    queryFn: ({ signal }) => client.session(id, signal),
    // The stream changes parts of it, and comparing the whole structure costs more than it saves.
    structuralSharing: false,
  });

export const checkpointsQuery = (id: string) =>
  queryOptions({ queryKey: ["checkpoints", id], queryFn: ({ signal }) => client.checkpoints(id, signal) });

export const teamQuery = (id: string) =>
  queryOptions({
    queryKey: ["team", id],
    queryFn: ({ signal }) => client.team(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const treeQuery = (id: string, at: string | undefined) =>
  queryOptions({
    queryKey: ["tree", id, at ?? "head"],
    queryFn: ({ signal }) => client.tree(id, at, signal),
    placeholderData: keepPreviousData,
  });

/** `revision`: a phase that ran again has other changes. */
export const changesQuery = (id: string, phase: string | undefined, revision: number) =>
  queryOptions({
    queryKey: ["changes", id, phase ?? "", revision],
    queryFn: ({ signal }) => client.changes(id, phase, signal),
    placeholderData: keepPreviousData,
  });

/** Named by its hash, so it never changes. */
export const blobQuery = (id: string, sha256: string) =>
  queryOptions({
    queryKey: ["blob", sha256],
    queryFn: ({ signal }) => client.blob(id, sha256, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: minute,
    structuralSharing: false,
  });

export const personaQuery = (id: string, phase: string, persona: string) =>
  queryOptions({
    queryKey: ["persona", id, phase, persona],
    queryFn: ({ signal }) => client.persona(id, phase, persona, signal),
    refetchInterval: minute / 6,
  });

const transcriptPageSize = 200;

/** `isRunning`: more may follow the last page. */
export const transcriptQuery = (
  id: string,
  phase: string,
  persona: string,
  attempt: number,
  isRunning: boolean,
) =>
  infiniteQueryOptions({
    // Its last items come with its end.
    queryKey: ["transcript", id, phase, persona, attempt, isRunning],
    queryFn: ({ pageParam, signal }) =>
      client.transcript(id, { phase, persona, attempt, after: pageParam, limit: transcriptPageSize }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: isRunning ? minute / 12 : false,
    staleTime: isRunning ? 0 : minute,
  });

const journalPageSize = 200;

export const journalQuery = (id: string, show: JournalFilter) =>
  infiniteQueryOptions({
    queryKey: ["journal", id, show],
    queryFn: ({ pageParam, signal }) =>
      client.journal(id, { before: pageParam, limit: journalPageSize, show }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ entries }) => (entries.length < journalPageSize ? undefined : entries.at(-1)?.seq),
    structuralSharing: false,
  });

export const usageQuery = (by: UsageBy, since: string | undefined, session: string | undefined) =>
  queryOptions({
    queryKey: ["usage", by, since ?? "", session ?? ""],
    queryFn: ({ signal }) =>
      client.usage(
        { by, ...(since !== undefined && { since }), ...(session !== undefined && { session }) },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: minute / 6,
  });
