import { type RefObject, useEffect, useLayoutEffect } from "react";

/** Scroll offsets by address. Back restores them. A new visit starts at the top. */
const offsets = new Map<string, number>();
let wentBack = false;

export function watchHistory(): void {
  addEventListener("popstate", () => {
    wentBack = true;
    // Only the page that this navigation opens may use it.
    setTimeout(() => {
      wentBack = false;
    }, 1000);
  });
}

export function useRestoredScroll(ref: RefObject<HTMLElement | null>, address: string, ready: boolean): void {
  useLayoutEffect(() => {
    const element = ref.current;
    const offset = offsets.get(address);
    if (ready && wentBack && element !== null && offset !== undefined) {
      element.scrollTop = offset;
      wentBack = false;
    }
  }, [ref, address, ready]);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const keep = () => offsets.set(address, element.scrollTop);
    element.addEventListener("scroll", keep, { passive: true });
    return () => element.removeEventListener("scroll", keep);
  }, [ref, address]);
}
