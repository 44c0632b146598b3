import { JournalCorrupt } from "../domain/errors.ts";
import { type Json, type JsonObject, parseJson } from "../domain/json.ts";
import type { RecordedRow, SentCall } from "../journal/journal.ts";
import { parseBody } from "../journal/journal-codec.ts";
import { stepRowKinds } from "../journal/recorded-step.ts";
import { StepIdentities } from "../journal/recorded-steps.ts";
import type { SentMessages } from "../journal/transcript/ports.ts";
import type { BlobStore } from "../workspace/blobs.ts";
import { inParallel } from "../workspace/in-parallel.ts";
import { maxBlobBytes } from "./sent-calls.ts";

const readsAtOnce = 8;
const blobLimits = { what: "a stored message", maxBytes: maxBlobBytes };

type Loaded = Omit<SentMessages, "repeats">;

/** Reads what the model calls of one session sent. It must see the rows in order, from the first. */
export class SentReader {
  readonly #blobs: Pick<BlobStore, "get">;
  readonly #calls = new Map<string, SentCall>();
  /** By the fingerprint of the call. */
  readonly #loaded = new Map<string, Loaded>();

  constructor(blobs: Pick<BlobStore, "get">) {
    this.#blobs = blobs;
  }

  /** Later calls name the ones that they continue. An equal call may continue an earlier one of its own fingerprint. */
  note(row: RecordedRow): void {
    if (row.kind !== stepRowKinds.model || this.#calls.has(row.fingerprint ?? "")) return;
    this.#calls.set(row.fingerprint ?? "", sentOf(row));
  }

  /** Verified by the fingerprint of the row. */
  async read(row: RecordedRow): Promise<SentMessages> {
    const sent = sentOf(row);
    const { messages, tools, settings } = await this.#load(row, sent);
    const call = { ...settings, prompt: messages, ...(tools !== undefined && { tools }) };
    const { fingerprint } = new StepIdentities("").next("model", row.name ?? "", call);
    if (fingerprint !== row.fingerprint)
      throw new JournalCorrupt(`The stored messages of step ${row.seq} do not match its fingerprint.`, {
        details: { seq: row.seq, expected: row.fingerprint, found: fingerprint },
        advice: "Restore the state directory from a backup.",
      });
    return { messages, tools, settings, repeats: sent.after === undefined ? 0 : (sent.keep ?? 0) };
  }

  /** A conversation is read from its last call that is loaded. */
  async #load(row: RecordedRow, last: SentCall): Promise<Loaded> {
    const chain = [{ fingerprint: row.fingerprint ?? "", sent: last }];
    let loaded: Loaded = { messages: [], tools: undefined, settings: {} };
    for (let { after } = last; after !== undefined; ) {
      const known = this.#loaded.get(after);
      if (known !== undefined) {
        loaded = known;
        break;
      }
      const sent = this.#calls.get(after);
      if (sent === undefined)
        throw new JournalCorrupt(`Step ${row.seq} continues a model call that the journal does not have.`, {
          details: { seq: row.seq },
        });
      chain.push({ fingerprint: after, sent });
      ({ after } = sent);
    }
    for (const { fingerprint, sent } of chain.toReversed()) {
      loaded = await this.#continue(loaded, sent);
      this.#loaded.set(fingerprint, loaded);
    }
    return loaded;
  }

  async #continue(before: Loaded, { keep = 0, add, tools, settings }: SentCall): Promise<Loaded> {
    const added: Json[] = [...((await this.#stored(add)) as readonly Json[])];
    await inParallel([...added.entries()], readsAtOnce, async ([place, message]) => {
      added[place] = await this.#stored(message);
    });
    return {
      messages: [...before.messages.slice(0, keep), ...(added as readonly JsonObject[])],
      tools:
        tools === undefined
          ? before.tools
          : (((await this.#stored(tools)) as readonly Json[] | null) ?? undefined),
      settings: settings === undefined ? before.settings : ((await this.#stored(settings)) as JsonObject),
    };
  }

  /** The JSON of a member, or the hash of the blob that holds it. */
  async #stored(member: Json): Promise<Json> {
    return typeof member === "string" ? parseJson(await this.#blobs.get(member), blobLimits) : member;
  }
}

const sentOf = ({ body }: RecordedRow): SentCall =>
  (parseBody(body) as unknown as { readonly sent: SentCall }).sent;
