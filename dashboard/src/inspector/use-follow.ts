import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const nearPixels = 24;

/** Follows the end while the reader is there. Otherwise counts new items and does not scroll. */
export function useFollow(scroll: RefObject<HTMLElement | null>, height: number, items: number) {
  /** The number of items when the reader left the end; undefined while following. */
  const [leftAt, setLeftAt] = useState<number>();
  const following = leftAt === undefined;
  const moving = useRef(false);
  const newest = useRef(items);
  useEffect(() => {
    newest.current = items;
  });
  useLayoutEffect(() => {
    const element = scroll.current;
    if (!following || element === null) return;
    const before = element.scrollTop;
    element.scrollTo(0, element.scrollHeight);
    // The browser reports only a real move. Without one, the next report is the reader's.
    moving.current = element.scrollTop !== before;
  }, [scroll, following, height]);
  const setFollowing = useCallback((follow: boolean) => setLeftAt(follow ? undefined : newest.current), []);
  useEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    const onScroll = () => {
      const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < nearPixels;
      // The event of our own scrolling may arrive after more text.
      const own = moving.current;
      moving.current = false;
      if (own && !atEnd) return;
      setLeftAt((known) => (atEnd ? undefined : (known ?? newest.current)));
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, [scroll]);
  return { following, setFollowing, unseen: following ? 0 : Math.max(0, items - leftAt) };
}
