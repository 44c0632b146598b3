import { sha256 } from "../domain/canonical.ts";
import { InputInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { StepKind } from "../journal/journal.ts";
import { isFailure } from "../journal/journal-codec.ts";
import { inParallel } from "../workspace/in-parallel.ts";

/** A smaller file would take a whole block on disk, and an fsync besides. See ADR 10. */
const inlineBytes = 4096;
const inlineListBytes = 32 * 1024;
export const maxBlobBytes = 64 * 1024 * 1024;
const conversationsKept = 8;
const putsAtOnce = 8;

/** A model call as `canonicalCall` makes it, split into the parts that are stored apart. */
export interface SplitCall {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly Json[] | undefined;
  readonly settings: JsonObject;
}

/** Tells a later call which parts of this one it repeats. */
interface CallHashes {
  readonly messages: readonly string[];
  readonly tools: string | undefined;
  readonly settings: string;
}

interface KnownCall extends CallHashes {
  readonly fingerprint: string;
}

/** A call that is about to be made. All `artifacts` are durable. */
export interface SendingCall {
  /** JSON of a `SentCall`, for the row. */
  readonly sent: string;
  readonly artifacts: readonly string[];
  readonly hashes: CallHashes;
  /** The known call that this one continues. */
  readonly continues: KnownCall | undefined;
}

/**
 * Stores the messages that the model calls of one attempt send. A message of an earlier call of the conversation is not
 * written again; a long one is a blob, which all sessions share.
 */
export class SentCalls {
  readonly #put: (text: string) => Promise<unknown>;
  /** Recorded calls that a later one may continue, the oldest first. */
  #known: readonly KnownCall[] = [];
  /** Not hashed before a call is made: most replays never make one. */
  #replayed: { readonly fingerprint: string; readonly call: Json } | undefined;

  /** `put`: makes a blob durable. */
  constructor(put: (text: string) => Promise<unknown>) {
    this.#put = put;
  }

  /** `body`: of the replayed record. */
  replayed(
    { kind, input }: { readonly kind: StepKind; readonly input: Json },
    fingerprint: string,
    body: string,
  ): void {
    if (kind === "model" && !isFailure(body)) this.#replayed = { fingerprint, call: input };
  }

  /** Called before the model is, so that a full disk costs nothing. */
  async send({ input }: { readonly input: Json }): Promise<SendingCall> {
    this.#hashReplayed();
    const { messages, tools, settings } = textsOf(partsOf(input));
    const hashes = hashTexts({ messages, tools, settings });
    const continues = this.#longestPrefix(hashes);
    const blobs = new Map<string, string>();
    const store = (text: string, hash = sha256(text), limit = inlineBytes): string => {
      const bytes = Buffer.byteLength(text);
      if (bytes <= limit) return text;
      if (bytes > maxBlobBytes) throw tooLong(bytes);
      blobs.set(hash, text);
      return JSON.stringify(hash);
    };
    const keep = continues === undefined ? 0 : commonPrefix(continues.messages, hashes.messages);
    const added = messages.slice(keep).map((text, place) => store(text, hashes.messages[keep + place]));
    const members = [
      continues && `"after":"${continues.fingerprint}","keep":${keep}`,
      `"add":${store(`[${added.join(",")}]`, undefined, inlineListBytes)}`,
      continues?.tools !== hashes.tools &&
        `"tools":${tools === undefined ? "null" : store(tools, hashes.tools)}`,
      continues?.settings !== hashes.settings && `"settings":${store(settings, hashes.settings)}`,
    ];
    await inParallel(blobs.values(), Math.min(putsAtOnce, blobs.size), async (text) => {
      await this.#put(text);
    });
    return {
      sent: `{${members.filter((member) => typeof member === "string").join(",")}}`,
      artifacts: [...blobs.keys()],
      hashes,
      continues,
    };
  }

  /** No later call refers to a failed one: a fork may not have its row. */
  recorded(fingerprint: string, sending: SendingCall | undefined, body: string): void {
    if (sending === undefined || isFailure(body)) return;
    this.#know({ fingerprint, ...sending.hashes }, sending.continues);
  }

  #hashReplayed(): void {
    if (this.#replayed === undefined) return;
    const { fingerprint, call } = this.#replayed;
    this.#replayed = undefined;
    this.#know({ fingerprint, ...hashTexts(textsOf(partsOf(call))) }, undefined);
  }

  /** A conversation is known by its last call. Parallel steps may have several conversations. */
  #know(call: KnownCall, continues: KnownCall | undefined): void {
    const others = this.#known.filter((known) => known !== continues);
    this.#known = [...others, call].slice(-conversationsKept);
  }

  #longestPrefix({ messages }: CallHashes): KnownCall | undefined {
    let longest: KnownCall | undefined;
    let length = 0;
    for (const known of this.#known) {
      const common = commonPrefix(known.messages, messages);
      if (common > length) [longest, length] = [known, common];
    }
    return longest;
  }
}

export function partsOf(call: Json): SplitCall {
  const { prompt, tools, ...settings } = isJsonObject(call) ? call : {};
  if (!Array.isArray(prompt)) throw new InputInvalid("A model call has no list of messages.");
  return {
    messages: prompt as readonly JsonObject[],
    tools: tools as readonly Json[] | undefined,
    settings,
  };
}

interface CallTexts {
  readonly messages: readonly string[];
  readonly tools: string | undefined;
  readonly settings: string;
}

/** Not canonical: the order of members is part of what a provider gets. */
const textsOf = ({ messages, tools, settings }: SplitCall): CallTexts => ({
  messages: messages.map((message) => JSON.stringify(message)),
  tools: tools && JSON.stringify(tools),
  settings: JSON.stringify(settings),
});

const tooLong = (bytes: number): InputInvalid =>
  new InputInvalid(`A message of a model call has ${bytes} bytes; the limit is ${maxBlobBytes}.`, {
    advice: "Split the message, or put the content into a file.",
  });

const hashTexts = ({ messages, tools, settings }: CallTexts): CallHashes => ({
  messages: messages.map((text) => sha256(text)),
  tools: tools && sha256(tools),
  settings: sha256(settings),
});

function commonPrefix(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((hash, place) => hash !== other[place]);
  return differs === -1 ? one.length : differs;
}
