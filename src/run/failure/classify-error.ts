import { createFailure, type Failure } from "../../domain/failure.ts";
import { chainDetails, chainMessage, errorChain, type Link, type Verdict } from "./error-chain.ts";
import { readErrorText, readSentence } from "./error-text.ts";
import { readMaestroError, recoverableByClass } from "./maestro-failure.ts";
import { readProviderError, readProviderWords } from "./provider-failure.ts";
import { readOutput } from "./read-output.ts";
import { readRecorded, recallFailure } from "./recorded-failure.ts";
import { readSystemError } from "./system-failure.ts";

type ReadLink = (link: Link, links: readonly Link[], now: number) => Verdict | undefined;

/**
 * Ordered from certain to guessed. Each reader sees the whole chain of causes before the next one starts, so that
 * "TypeError: fetch failed" becomes the refused connection beneath it.
 */
const readers: readonly ReadLink[] = [
  readMaestroError,
  readRecorded,
  readCommandError,
  (link, links, now) => readProviderError(link, links, now) ?? readSystemError(link),
  ({ name, message }) => readErrorText(name, message),
];

const readMessage = ({ message }: Link): Verdict | undefined =>
  readProviderWords(message, undefined) ?? readSentence(message);

/**
 * A message alone proves little: "no rate limit section" may be a judgement about the work. It may decide the category,
 * but neither that a retry is useless nor that a service is down.
 */
function readBareMessage(link: Link): Verdict | undefined {
  const verdict = readMessage(link);
  return verdict === undefined || verdict.category === "AUTH"
    ? undefined
    : { ...verdict, outage: false, recoverable: true };
}

export interface Circumstances {
  /** The service whose call threw the error: its message is about that service. */
  readonly dependency?: string | undefined;
}

/**
 * Classifies anything thrown. An error read back from a step's record has lost its status and headers, so its first
 * classification holds. `now` matters only for a `retry-after` date without a `date` header.
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
  for (const read of [...readers, dependency === undefined ? readBareMessage : readMessage]) {
    for (const link of links) {
      const verdict = read(link, links, now);
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

/** Errors of `execFile` and similar functions have the output of the command. */
function readCommandError(link: Link): Verdict | undefined {
  const [stdout, stderr] = [textOf(link.read("stdout")), textOf(link.read("stderr"))];
  // Asynchronous calls name it `code`, synchronous ones `status`.
  const exitCode =
    [link.read("code"), link.read("status")].find((value) => typeof value === "number") ?? null;
  const ended = exitCode !== null || typeof link.read("signal") === "string";
  if (stdout === undefined || stderr === undefined || !ended) return undefined;
  if (link.read("killed") === true) return { category: "TIMEOUT", code: "killed" };
  const argv = link.read("argv");
  const command = Array.isArray(argv) ? argv.map(String) : undefined;
  return readOutput({ stdout, stderr, exitCode, ...(command && { command }) })[0];
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : Buffer.isBuffer(value) ? value.toString() : undefined;
