import { createContext, useContext } from "react";
import type { SessionView } from "../api/types.ts";
import type { Pending } from "./pending.ts";

export type SessionPanel =
  | { readonly kind: "none" }
  | { readonly kind: "pause" }
  | { readonly kind: "cancel" }
  | { readonly kind: "approve" | "reject" }
  | { readonly kind: "resume" }
  | { readonly kind: "fork"; readonly at?: string; readonly forModel?: boolean }
  | { readonly kind: "edit"; readonly phase: string; readonly path?: string };

interface SessionScene {
  readonly view: SessionView;
  /** Key or id, as in the address. */
  readonly name: string;
  /** The connection is lost: actions are disabled. */
  readonly stale: boolean;
  readonly pending: Pending;
  /** Sends an action to the session. Resolves to whether the server accepted it. */
  readonly send: (label: string, failed: string, call: () => Promise<unknown>) => Promise<boolean>;
  readonly open: (panel: SessionPanel) => void;
}

export const SessionContext = createContext<SessionScene | undefined>(undefined);

export function useScene(): SessionScene {
  const scene = useContext(SessionContext);
  if (scene === undefined) throw new Error("no session around this component");
  return scene;
}
