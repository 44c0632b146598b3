import type { SessionQueries } from "../../src/api/session-queries.ts";
import type { TranscriptOptions } from "../../src/api/transcript.ts";
import type { Json } from "../../src/domain/json.ts";
import type { TranscriptItem } from "../../src/journal/transcript/item.ts";
import type { SplitCall } from "../../src/run/sent-calls.ts";

export async function transcriptIn(
  maestro: Pick<SessionQueries, "transcript">,
  idOrKey: string,
  options: TranscriptOptions = {},
): Promise<readonly TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  for await (const page of maestro.transcript(idOrKey, options)) items.push(...page.items);
  return items;
}

export const kindOf = <Kind extends TranscriptItem["kind"]>(
  items: readonly TranscriptItem[],
  kind: Kind,
): readonly Extract<TranscriptItem, { kind: Kind }>[] =>
  items.filter((item): item is Extract<TranscriptItem, { kind: Kind }> => item.kind === kind);

/** The calls of the transcript, as they can be sent once more. */
export const callsIn = (items: readonly TranscriptItem[]): readonly SplitCall[] =>
  kindOf(items, "prompt").map(({ messages, tools, settings }) => ({
    messages: messages as SplitCall["messages"],
    tools: tools ?? undefined,
    settings: settings as SplitCall["settings"],
  }));

/** The conversation of one persona without times, ids and estimated rows. */
export const timeless = (items: readonly TranscriptItem[], persona: string): readonly Json[] =>
  items
    .filter((item) => item.persona === persona && !(item.kind === "answer" && item.estimated))
    .map((item) => {
      const { seq: _, at: __, ms: ___, ...rest } = item;
      return JSON.parse(JSON.stringify(rest, (key, value) => (key === "firstTokenMs" ? null : value)));
    });
