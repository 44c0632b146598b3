import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query holds, for what style sheets alone cannot do. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

export const phone = "(max-width: 720px)";
export const narrow = "(max-width: 1099px)";
