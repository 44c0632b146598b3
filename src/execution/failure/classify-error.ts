import { createFailure, type Failure } from "../../domain/failure.ts";
import { readCommandError } from "./command-error.ts";
import { chainDetails, chainMessage, errorChain, type Link } from "./error-chain.ts";
import { readErrorText, readSentence } from "./error-text.ts";
import { readMaestroError, recoverableByClass } from "./maestro-failure.ts";
import { readProviderError } from "./provider-failure.ts";
import { readProviderWords } from "./provider-words.ts";
import { readRecorded, recallFailure } from "./recorded-failure.ts";
import { readSystemError } from "./system-failure.ts";
import type { Verdict } from "./verdict.ts";

type Look = (link: Link, links: readonly Link[], now: number) => Verdict | undefined;

/**
 * From what is certain to what is a guess. Each look goes through the whole chain of causes before the next begins,
 * so that "TypeError: fetch failed" is the refused connection beneath it.
 */
const looks: readonly Look[] = [
  readMaestroError,
  readRecorded,
  readCommandError,
  (link, links, now) => readProviderError(link, links, now) ?? readSystemError(link),
  ({ name, message }) => readErrorText(name, message),
];

const words = ({ message }: Link): Verdict | undefined =>
  readProviderWords(message, undefined) ?? readSentence(message);

/**
 * A sentence alone proves nothing: work that says "a forbidden word" or "no rate limit section" judges what it made.
 * It may name the kind of failure; that trying again is useless, or that a service is down, it may not say.
 */
function mereWords(link: Link): Verdict | undefined {
  const verdict = words(link);
  return verdict === undefined || verdict.category === "AUTH"
    ? undefined
    : { ...verdict, outage: false, recoverable: true };
}

export interface Circumstances {
  /** It was thrown by a call to this service, so its words are about the service. */
  readonly dependency?: string | undefined;
}

/**
 * Classifies anything thrown. An error from a step's record has lost its status and headers; what was decided while it
 * was fresh holds.
 * `now` matters only for a `retry-after` date from a server that does not say its own time.
 */
export function classifyError(
  error: unknown,
  now: number = Date.now(),
  { dependency }: Circumstances = {},
): Failure {
  const recorded = recallFailure(error);
  if (recorded !== undefined) return recorded;
  const links = errorChain(error);
  const recoverable = links.map(recoverableByClass).find((said) => said !== undefined);
  for (const look of [...looks, dependency === undefined ? mereWords : words]) {
    for (const link of links) {
      const verdict = look(link, links, now);
      if (verdict !== undefined) return build(links, link, verdict, recoverable);
    }
  }
  const first = links[0] as Link;
  return build(links, first, { category: "UNKNOWN", code: first.code ?? first.name }, recoverable);
}

function build(
  links: readonly Link[],
  deciding: Link,
  verdict: Verdict,
  recoverable: boolean | undefined,
): Failure {
  const details = [chainDetails(links), verdict.details].filter((text) => text !== undefined).join("\n");
  return createFailure({
    ...verdict,
    message: verdict.message ?? chainMessage(links, deciding),
    details,
    source: "error",
    recoverable: recoverable ?? verdict.recoverable,
  });
}
