import { useCallback, useState } from "react";
import type { SessionView } from "../api/types.ts";
import { serverNow } from "../live/clock.ts";
import { say } from "../shell/announcer.tsx";
import { markOf, nothingPending, type Pending, settle } from "./pending.ts";

export function useSend(view: SessionView | undefined) {
  const [said, setPending] = useState<Pending>(nothingPending);
  const pending = view === undefined ? said : settle(said, view);
  const was = view === undefined ? "" : markOf(view);
  const send = useCallback(
    async (label: string, failed: string, call: () => Promise<unknown>): Promise<boolean> => {
      setPending({ kind: "sending", label });
      say({ text: label, urgent: true });
      try {
        await call();
        setPending((known) =>
          known.kind === "sending" ? { kind: "waiting", label, since: serverNow(), was } : known,
        );
        return true;
      } catch (error) {
        setPending({ kind: "failed", what: failed, error });
        return false;
      }
    },
    [was],
  );
  /** An error stays until the next action. */
  const forget = useCallback(
    () => setPending((known) => (known.kind === "failed" ? nothingPending : known)),
    [],
  );
  return { pending, send, forget };
}
