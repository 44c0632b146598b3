import { useEffect, useRef } from "react";
import type { SessionView } from "../api/types.ts";

/** The list is read whole, however long it is. */
const leastMs = 1_000;

interface MoneyList {
  readonly isFetching: boolean;
  readonly refetch: () => Promise<unknown>;
}

/**
 * Calls and what they cost are not rows of the journal: no stream brings them. They are read again when the session has
 * moved on, and once more if it moved on while they were read.
 */
export function useFreshMoney(view: SessionView, isShown: boolean, { isFetching, refetch }: MoneyList): void {
  const { entries, reservedUsd, usage } = view;
  const moment = `${view.id} ${entries} ${reservedUsd} ${usage.calls} ${usage.costUsd}`;
  const read = useRef({ moment: "", atMs: 0 });
  useEffect(() => {
    if (!isShown || isFetching || read.current.moment === moment) return undefined;
    const timer = setTimeout(
      () => {
        read.current = { moment, atMs: Date.now() };
        void refetch();
      },
      Math.max(0, read.current.atMs + leastMs - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [isShown, isFetching, moment, refetch]);
}
