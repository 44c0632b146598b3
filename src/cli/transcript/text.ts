import type { TranscriptItem } from "../../journal/transcript/item.ts";
import { folded } from "../output.ts";
import { type Color, type Paint, painter } from "../terminal/color.ts";
import { plain } from "../terminal/format.ts";
import type { Screen } from "../terminal/screen.ts";
import { bodyOf, conversationsOf, itemTitle } from "./conversations.ts";

/** For people at a terminal. */
export function* transcriptText(items: readonly TranscriptItem[], screen: Screen): Generator<string> {
  const paint = painter(screen.color);
  for (const [place, { title, items: own }] of conversationsOf(items).entries()) {
    if (place > 0) yield "";
    yield paint("bold", plain(title));
    for (const item of own) yield* itemLines(item, screen, paint);
  }
}

function* itemLines(item: TranscriptItem, { columns }: Screen, paint: Paint): Generator<string> {
  yield "";
  for (const line of folded(plain(itemTitle(item)), columns)) yield paint(colorOf(item), line);
  const body = bodyOf(item);
  if (body === "") return;
  for (const line of body.replace(/\s+$/, "").split("\n"))
    for (const piece of folded(`  ${plain(line.replaceAll("\t", "    "))}`, columns)) yield piece;
}

function colorOf(item: TranscriptItem): Color {
  const failed =
    (item.kind === "answer" && item.error !== null) ||
    (item.kind === "check" && item.status === "failed") ||
    ("status" in item && item.status === "failed");
  if (failed) return "red";
  return item.kind === "person" ? "yellow" : item.kind === "answer" ? "cyan" : "dim";
}
