import type { TranscriptItem } from "../../journal/transcript/item.ts";
import { type GlobalOptions, withReadonly } from "../open.ts";
import { print, printJson, say } from "../output.ts";
import { readCount, type transcriptFormats } from "../read-flags.ts";
import { screenOf } from "../terminal/screen.ts";

interface TranscriptFlags extends GlobalOptions {
  readonly phase?: string;
  readonly attempt?: string;
  readonly format?: (typeof transcriptFormats)[number];
}

export async function transcript(
  session: string,
  persona: string | undefined,
  { phase, attempt, format = "text", ...options }: TranscriptFlags,
): Promise<void> {
  const choice = {
    phase,
    persona,
    attempt: attempt === undefined ? undefined : readCount("--attempt", attempt, { least: 1 }),
  };
  const items: TranscriptItem[] = [];
  await withReadonly(options, async (maestro) => {
    for await (const page of maestro.transcript(session, choice)) {
      // As they are read: a long session does not fit into one text.
      if (format === "jsonl" && !options.json) page.items.forEach(printJson);
      else items.push(...page.items);
    }
  });
  if (options.json) return printJson(items);
  if (format === "jsonl") return;
  if (items.length === 0) return say("Nothing was said yet.");
  if (format === "markdown") {
    const { transcriptMarkdown } = await import("../transcript/markdown.ts");
    for (const line of transcriptMarkdown(`Transcript of ${session}`, items)) print(line);
    return;
  }
  const { transcriptText } = await import("../transcript/text.ts");
  for (const line of transcriptText(items, screenOf(process.stdout))) print(line);
}
