import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { plannedPhases } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { TranscriptItem } from "../journal/transcript/item.ts";
import { Transcriber, type TranscriptChoice } from "../journal/transcript/transcriber.ts";
import { SentReader } from "../run/sent-reader.ts";
import type { LedgerCall } from "../store/reports.ts";
import type { QueryServices } from "./services.ts";

type Services = Pick<QueryServices, "store" | "artifacts">;

export interface TranscriptOptions extends TranscriptChoice {
  /** Only items of rows after this seq. */
  readonly after?: number | undefined;
}

/** The items of one row, and its seq. Items that belong to no row come at the end, with the seq of the last row. */
export interface TranscriptPage {
  readonly seq: number;
  readonly items: readonly TranscriptItem[];
}

/** The words and acts of a session, in the order in which they were recorded. */
export async function* transcriptOf(
  state: SessionState,
  services: Services,
  { after = 0, ...choice }: TranscriptOptions,
): AsyncGenerator<TranscriptPage> {
  refuseUnknownPlace(state, choice);
  const { store, artifacts } = services;
  const sent = new SentReader(artifacts);
  const transcriber = new Transcriber(
    {
      sent: (row) => sent.read(row),
      // Retention may have removed the output of a check, never a message.
      text: (sha256) => artifacts.get(sha256).then(String, () => undefined),
      calls: await callsOf(state.id, services),
    },
    choice,
  );
  let seq = 0;
  for await (const rows of store.readJournal(state.id))
    for (const row of rows) {
      ({ seq } = row);
      sent.note(row);
      const items = await transcriber.read(row, seq > after);
      if (items.length > 0) yield { seq, items };
    }
  const rest = transcriber.rest();
  if (rest.length > 0) yield { seq, items: rest };
}

const callsAtOnce = 1_000;

async function callsOf(id: SessionId, { store }: Services): Promise<readonly LedgerCall[]> {
  const calls: LedgerCall[] = [];
  for (;;) {
    const last = calls.at(-1);
    const page = await store.reports.calls(id, {
      limit: callsAtOnce,
      ...(last !== undefined && { after: last.reservation }),
    });
    calls.push(...page);
    if (page.length < callsAtOnce) return calls;
  }
}

/** A misspelled name must not look like a persona that said nothing. */
function refuseUnknownPlace(
  { created, phases, id }: SessionState,
  { phase, persona, attempt }: TranscriptChoice,
): void {
  if (attempt !== undefined && persona === undefined)
    throw new InputInvalid("An attempt belongs to a persona.", { advice: "Name the persona as well." });
  const planned = plannedPhases(created.definition);
  const names = new Set([...planned.map(({ name }) => name), ...phases.keys()]);
  if (phase !== undefined && !names.has(phase)) throw unknown("phase", phase, names);
  const personas = new Set([
    ...planned.flatMap((each) => each.personas.map(({ name }) => name)),
    ...[...phases.values()].flatMap((each) => [...each.personas.keys()]),
  ]);
  if (persona !== undefined && !personas.has(persona)) throw unknown("persona", persona, personas);
  const most = Math.max(
    0,
    ...[...phases]
      .filter(([name]) => phase === undefined || phase === name)
      .map(([, each]) => (persona === undefined ? 0 : (each.personas.get(persona)?.attempts.length ?? 0))),
  );
  if (attempt === undefined || (attempt > 0 && attempt <= most)) return;
  const made = most === 0 ? "has begun no attempt yet" : `has ${most} ${most === 1 ? "attempt" : "attempts"}`;
  throw new InputInvalid(`There is no attempt ${attempt}: ${persona} ${made}.`, {
    details: { session: id, attempt, attempts: most },
  });
}

const unknown = (what: "phase" | "persona", name: string, known: ReadonlySet<string>): InputInvalid =>
  new InputInvalid(`The session has no ${what} "${name}".${didYouMean(name, [...known])}`, {
    advice: `It has: ${[...known].join(", ")}`,
  });
