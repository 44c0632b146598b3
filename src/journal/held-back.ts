import { type Advice, advise, nameOf } from "../domain/advice.ts";
import type { SessionStatus } from "./standing.ts";

export interface HeldSession {
  readonly id: string;
  readonly key: string | null;
  readonly status: SessionStatus;
  /** The session came from an export. */
  readonly imported?: { readonly trusted: boolean } | null;
  /** Sealed work on disk that the database lacks. */
  readonly newerCheckpoints?: readonly string[];
}

/** Why a session does not run although its journal would allow it. Undefined if it may run. */
export function heldBack(
  session: HeldSession,
): { readonly why: string; readonly todo: readonly Advice[] } | undefined {
  const { status, imported, newerCheckpoints = [] } = session;
  if (newerCheckpoints.length > 0)
    return {
      why: `The database is older than its checkpoints, perhaps from a backup: it does not know ${newerCheckpoints.join(", ")}. It does not run until they are restored.`,
      todo: [advise("Take them into the database", "checkpoints", "restore", nameOf(session))],
    };
  if (status === "paused" && imported?.trusted === false)
    return { why: "It was imported, and no person has trusted it: it does not run.", todo: [] };
  return undefined;
}
