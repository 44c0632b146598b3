import { InputInvalid, JournalCorrupt } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { type Json, type JsonObject, parseJson } from "../domain/json.ts";
import type { RecordedRow, SentCall } from "../journal/journal.ts";
import { parseBody } from "../journal/journal-codec.ts";
import { stepRowKinds } from "../journal/recorded-step.ts";
import { StepIdentities } from "../journal/recorded-steps.ts";
import type { Store } from "../store/store.ts";
import type { BlobStore } from "../workspace/blobs.ts";
import { inParallel } from "../workspace/in-parallel.ts";
import { maxBlobBytes, type SplitCall } from "./sent-calls.ts";

const readsAtOnce = 8;
const blobLimits = { what: "a stored message", maxBytes: maxBlobBytes };

export interface SentPorts {
  readonly store: Pick<Store, "readJournal">;
  readonly blobs: Pick<BlobStore, "get">;
}

/** The messages, tools and settings of a recorded model call, verified by the fingerprint of its row. */
export async function readSent(ports: SentPorts, session: SessionId, seq: number): Promise<SplitCall> {
  const row = await modelRow(ports.store, session, seq);
  const { messages, tools, settings } = await load(ports.blobs, await chainOf(ports.store, session, row));
  const call = { ...settings, prompt: messages, ...(tools !== undefined && { tools }) };
  const { fingerprint } = new StepIdentities("").next("model", row.name ?? "", call);
  if (fingerprint === row.fingerprint) return { messages, tools, settings };
  throw new JournalCorrupt(`The stored messages of step ${seq} do not match its fingerprint.`, {
    details: { session, seq, expected: row.fingerprint, found: fingerprint },
    advice: "Restore the state directory from a backup.",
  });
}

async function modelRow(store: SentPorts["store"], session: SessionId, seq: number): Promise<RecordedRow> {
  for await (const [row] of store.readJournal(session, seq - 1, 1))
    if (row?.seq === seq && row.kind === stepRowKinds.model) return row;
  throw new InputInvalid(`Step ${seq} of session ${session} is not a model call.`, {
    details: { session, seq },
  });
}

type Calls = ReadonlyMap<string, SentCall>;

/** The row's call and the calls it continues, oldest first. Nearly always they are all of one attempt. */
async function chainOf(
  store: SentPorts["store"],
  session: SessionId,
  row: RecordedRow,
): Promise<readonly SentCall[]> {
  for (const after of [row.attempt ?? 0, 0]) {
    const chain = follow(await callsBetween(store, session, after, row.seq), sentOf(row));
    if (chain !== undefined) return chain;
  }
  throw new JournalCorrupt(`Step ${row.seq} continues a model call that the journal does not have.`, {
    details: { session, seq: row.seq },
  });
}

async function callsBetween(
  store: SentPorts["store"],
  session: SessionId,
  after: number,
  before: number,
): Promise<Calls> {
  const calls = new Map<string, SentCall>();
  for await (const rows of store.readJournal(session, after, before - after - 1))
    for (const row of rows)
      if (row.kind === stepRowKinds.model) calls.set(row.fingerprint ?? "", sentOf(row));
  return calls;
}

function follow(calls: Calls, last: SentCall): readonly SentCall[] | undefined {
  const chain = [last];
  for (let { after } = last; after !== undefined; ) {
    const earlier = calls.get(after);
    if (earlier === undefined) return undefined;
    chain.push(earlier);
    ({ after } = earlier);
  }
  return chain.toReversed();
}

const sentOf = ({ body }: RecordedRow): SentCall =>
  (parseBody(body) as unknown as { readonly sent: SentCall }).sent;

async function load(blobs: SentPorts["blobs"], chain: readonly SentCall[]): Promise<SplitCall> {
  // The JSON of a member, or the hash of the blob that holds it.
  const read = async <T extends Json | undefined>(stored: T): Promise<T> =>
    (typeof stored === "string" ? parseJson(await blobs.get(stored), blobLimits) : stored) as T;
  let messages: readonly Json[] = [];
  let tools: SentCall["tools"];
  let settings: SentCall["settings"];
  for (const sent of chain) {
    const added = (await read(sent.add as Json)) as readonly Json[];
    messages = [...messages.slice(0, sent.keep ?? 0), ...added];
    if (sent.tools !== undefined) tools = sent.tools;
    if (sent.settings !== undefined) settings = sent.settings;
  }
  // Only the messages of this call are loaded, not others of the calls before it.
  const loaded: Json[] = [...messages];
  await inParallel(messages.entries(), readsAtOnce, async ([place, message]) => {
    loaded[place] = await read(message);
  });
  return {
    messages: loaded as readonly JsonObject[],
    tools: ((await read(tools as Json)) ?? undefined) as SplitCall["tools"],
    settings: (await read(settings as Json)) as JsonObject,
  };
}
