/**
 * Announcements for screen readers. Transitions are merged and spoken at most every 5 s, urgent ones immediately,
 * countdowns never.
 */
export interface Announcement {
  readonly text: string;
  readonly urgent: boolean;
}

const betweenAnnouncementsMs = 5000;

interface AnnouncerState {
  readonly waiting: readonly string[];
  readonly lastAt: number;
}

export const quietAnnouncer: AnnouncerState = { waiting: [], lastAt: Number.NEGATIVE_INFINITY };

interface AnnouncerStep {
  readonly state: AnnouncerState;
  /** The text to speak now. */
  readonly say: string | undefined;
  /** When to check again, if something waits. */
  readonly againInMs: number | undefined;
}

export function announce(
  state: AnnouncerState,
  arrived: readonly Announcement[],
  now: number,
): AnnouncerStep {
  const waiting = [...state.waiting, ...arrived.map(({ text }) => text)];
  if (waiting.length === 0) return { state, say: undefined, againInMs: undefined };
  const dueInMs = state.lastAt + betweenAnnouncementsMs - now;
  if (dueInMs > 0 && !arrived.some(({ urgent }) => urgent))
    return { state: { ...state, waiting }, say: undefined, againInMs: dueInMs };
  return { state: { waiting: [], lastAt: now }, say: merged(waiting), againInMs: undefined };
}

const mostSpoken = 3;

/** Names the newest three and counts the rest. */
function merged(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  const spoken = unique.slice(-mostSpoken);
  const more = unique.length - spoken.length;
  return more === 0 ? spoken.join(" ") : `${spoken.join(" ")} And ${more} more.`;
}
