import { redact, redactedMark } from "../../domain/redact.ts";

/** A shorter value could be ordinary text; masking it would damage the output. */
const shortestSecret = 6;

export type Hide = (text: string) => string;

/** Hides what an agent was given in its environment, whatever it looks like, and all that looks like a key. */
export function hideValues(env: Readonly<Record<string, string>> = {}): Hide {
  const secrets = Object.values(env)
    .flatMap((value) => [value, ...value.split("\n")])
    .map((value) => value.trim())
    .filter((value) => value.length >= shortestSecret)
    // The longest first: one may be a part of another.
    .toSorted((one, other) => other.length - one.length);
  return (text) => redact(secrets.reduce((kept, secret) => kept.replaceAll(secret, redactedMark), text));
}
