import type { Maestro } from "../../api/open.ts";
import type { TranscriptItem } from "../../journal/transcript/item.ts";
import type { TranscriptPageView } from "../schemas/transcript.ts";

export interface TranscriptQuery {
  readonly phase?: string | undefined;
  readonly persona?: string | undefined;
  readonly attempt?: number | undefined;
  readonly after: number;
  readonly limit: number;
  readonly messages: "all" | "new";
}

/** A page of a session's transcript. The items of one row stay together. */
export async function transcriptPage(
  maestro: Pick<Maestro, "transcript">,
  id: string,
  { limit, messages, ...options }: TranscriptQuery,
): Promise<TranscriptPageView> {
  const items: TranscriptItem[] = [];
  for await (const page of maestro.transcript(id, options)) {
    items.push(...(messages === "all" ? page.items : page.items.map(withoutRepeats)));
    if (items.length >= limit) return { items, next: page.seq };
  }
  return { items, next: null };
}

const withoutRepeats = (item: TranscriptItem): TranscriptItem =>
  item.kind === "prompt" && item.messages !== null
    ? { ...item, messages: item.messages.slice(item.repeats) }
    : item;
