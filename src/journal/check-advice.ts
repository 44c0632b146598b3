import { type Advice, advise, nameOf } from "../domain/advice.ts";
import type { ErrorJson } from "../domain/error-json.ts";

interface CheckedSession {
  readonly id: string;
  readonly key: string | null;
  readonly error: ErrorJson | null;
  readonly needsProgram: boolean;
  readonly source?: object | null;
}

/** A resume alone keeps the team and the files of the start. */
export function checkAdvice(session: CheckedSession): readonly Advice[] {
  if (session.error?.details?.["check"] === undefined) return [];
  const change = "Or correct the check or the setup in the";
  const team = session.needsProgram
    ? advise(`${change} program that defines the team, and resume there with acceptChanges.`)
    : advise(
        `${change} team file, and resume with it`,
        "resume",
        nameOf(session),
        "--team",
        "<file>",
        "--accept-changes",
      );
  const again = "Or change the repository, and start again under a new key: this session keeps its files.";
  return session.source == null ? [team] : [team, advise(again)];
}
