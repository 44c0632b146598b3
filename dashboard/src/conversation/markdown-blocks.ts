/** A block of Markdown text. Only what answers of models use; everything else stays a paragraph. */
export type MarkdownBlock =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: "quote"; readonly text: string }
  | { readonly kind: "paragraph"; readonly text: string };

export type MarkdownSpan = { readonly kind: "text" | "code" | "strong" | "emphasis"; readonly text: string };

const fence = /^ {0,3}(`{3,}|~{3,})/;
const heading = /^(#{1,6})\s+(.*?)#*\s*$/;
const bullet = /^\s*[-*+]\s+(.*)$/;
const numbered = /^\s*\d{1,9}[.)]\s+(.*)$/;
const quote = /^>\s?(.*)$/;

/** Reads line by line, so that no text takes more than linear time. */
export function markdownBlocks(source: string): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  const lines = source.split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const run = (matches: (line: string) => string | undefined): string[] => {
      const found: string[] = [];
      for (let text = matches(lines[at] ?? ""); at < lines.length && text !== undefined; ) {
        found.push(text);
        at += 1;
        text = matches(lines[at] ?? "");
      }
      return found;
    };
    const opening = fence.exec(line)?.[1];
    if (opening !== undefined) {
      at += 1;
      const text = run((inside) => (inside.trimStart().startsWith(opening) ? undefined : inside));
      at += 1;
      blocks.push({ kind: "code", text: text.join("\n") });
      continue;
    }
    const [, marks, title] = heading.exec(line) ?? [];
    if (marks !== undefined) {
      blocks.push({ kind: "heading", level: marks.length, text: title ?? "" });
      at += 1;
    } else if (bullet.test(line))
      blocks.push({ kind: "list", ordered: false, items: run((item) => bullet.exec(item)?.[1]) });
    else if (numbered.test(line))
      blocks.push({ kind: "list", ordered: true, items: run((item) => numbered.exec(item)?.[1]) });
    else if (quote.test(line))
      blocks.push({ kind: "quote", text: run((quoted) => quote.exec(quoted)?.[1]).join("\n") });
    else if (line.trim() === "") at += 1;
    else
      blocks.push({
        kind: "paragraph",
        text: run((text) => (beginsOther(text) ? undefined : text)).join("\n"),
      });
  }
  return blocks;
}

const beginsOther = (line: string): boolean =>
  line.trim() === "" || [fence, heading, bullet, numbered, quote].some((pattern) => pattern.test(line));

/** Code, bold and italic text of one line. Links stay as they are written: their targets are untrusted. */
export function markdownSpans(text: string): readonly MarkdownSpan[] {
  const spans: MarkdownSpan[] = [];
  const pattern =
    /`([^`\n]{1,2000})`|\*\*([^*\n]{1,2000})\*\*|(?<![\w*])\*([^*\s][^*\n]{0,2000})\*(?![\w*])/g;
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > from) spans.push({ kind: "text", text: text.slice(from, found.index) });
    const [whole, code, strong, emphasis] = found;
    if (code !== undefined) spans.push({ kind: "code", text: code });
    else if (strong !== undefined) spans.push({ kind: "strong", text: strong });
    else spans.push({ kind: "emphasis", text: emphasis ?? "" });
    from = found.index + whole.length;
  }
  if (from < text.length) spans.push({ kind: "text", text: text.slice(from) });
  return spans;
}
