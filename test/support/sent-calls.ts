import { join } from "node:path";
import { systemClock } from "../../src/domain/clock.ts";
import type { RecordedRow } from "../../src/journal/journal.ts";
import { resolveModel } from "../../src/personas/model/resolve-model.ts";
import type { CallOptions } from "../../src/personas/model/sdk-types.ts";
import type { SplitCall } from "../../src/run/sent-calls.ts";
import { SentReader } from "../../src/run/sent-reader.ts";
import { Artifacts } from "../../src/store/artifacts.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { hashOf } from "./loopback-conversation.ts";
import { LoopbackModels } from "./loopback-models.ts";

export interface SentCall extends SplitCall {
  readonly row: RecordedRow;
}

/** Every model call of a session, as recorded in its journal. */
export async function sentCalls(stateDir: string, idOrKey: string): Promise<readonly SentCall[]> {
  const store = new SqliteStore({
    path: join(stateDir, "maestro.db"),
    clock: systemClock,
    leaseMs: 15_000,
  });
  const blobs = new Artifacts(stateDir);
  try {
    const session = await store.findSession(idOrKey);
    if (session === undefined) throw new Error(`there is no session ${idOrKey}`);
    const sent = new SentReader(blobs);
    const calls: SentCall[] = [];
    for await (const rows of store.readJournal(session.id))
      for (const row of rows) {
        sent.note(row);
        if (row.kind === "step.model") calls.push({ row, ...(await sent.read(row)) });
      }
    return calls;
  } finally {
    await store.close();
  }
}

/** Sends stored calls once more through the provider's own package: the hashes of the requests that come of it. */
export async function sendAgain(calls: readonly SplitCall[]): Promise<readonly string[]> {
  const server = await LoopbackModels.start();
  try {
    for (const { messages, tools, settings } of calls) {
      const { model: name, ...options } = settings;
      const { model } = await resolveModel(name as string, { env: server.env });
      const { stream } = await model.doStream({
        ...options,
        prompt: messages,
        tools,
      } as unknown as CallOptions);
      for await (const _ of stream);
    }
    return server.requests.map(hashOf);
  } finally {
    await server.close();
  }
}
