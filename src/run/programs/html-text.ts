/** Elements whose content is no text for a reader. */
const skipped = new Set(["script", "style", "template", "svg", "math", "iframe", "object", "canvas"]);
const paragraphs = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote section article header footer main nav aside figure form hr title".split(
    " ",
  ),
);
const lines = new Set(
  "div li dt dd tr br body head fieldset option details summary figcaption caption".split(" "),
);
const maxTag = 4_000;

/** The text of a page as a reader sees it, in one pass: headings, lists, tables, links with their addresses. */
export function htmlToText(html: string, base?: URL): string {
  const text = new Lines();
  // Of ASCII letters only, so that places stay the same.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const tag = /<(\/?)([a-z][a-z0-9:-]{0,40})/y;
  let links: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    text.add(html.slice(at, open === -1 ? html.length : open));
    if (open === -1) break;
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    tag.lastIndex = open;
    const [, slash, name = ""] = tag.exec(lower) ?? [];
    if (slash === undefined) {
      const isMarkup = /[!?/]/.test(html[open + 1] ?? "");
      if (!isMarkup) text.add("<");
      at = isMarkup ? after(html, ">", open) : open + 1;
      continue;
    }
    const end = endOfTag(html, open);
    if (slash === "" && skipped.has(name)) {
      const close = lower.indexOf(`</${name}`, end);
      at = close === -1 ? html.length : after(html, ">", close);
      continue;
    }
    if (paragraphs.has(name)) text.break(2);
    else if (lines.has(name)) text.break(1);
    if (slash === "") {
      if (name === "a")
        links = [...links.slice(-10), linkOf(html.slice(open, Math.min(end, open + maxTag)), base)];
      else text.begin(name);
    } else if (name === "a") {
      const link = links.pop() ?? "";
      if (link !== "") text.add(` (${link})`, true);
    } else if (name === "pre") text.endPre();
    at = end;
  }
  return text.all;
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** A `>` within a value in quotes does not end the tag. */
function endOfTag(html: string, open: number): number {
  let quote = "";
  for (let at = open + 1; at < html.length; at += 1) {
    const character = html[at] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return at + 1;
    // Elsewhere in a tag a quote is a mistake of its author.
    else if ((character === '"' || character === "'") && html[at - 1] === "=") quote = character;
  }
  return html.length;
}

function linkOf(tag: string, base: URL | undefined): string {
  const [, double, single, bare] =
    /\shref\s{0,4}=\s{0,4}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
  const href = unescaped(double ?? single ?? bare ?? "").trim();
  if (href === "" || href.startsWith("#")) return "";
  const url = URL.parse(href, base);
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= 500 ? url.href : "";
}

/** Text with its white space collapsed, and at most one empty line between paragraphs. */
class Lines {
  readonly #parts: string[] = [];
  #break = 0;
  #space = false;
  #pre = 0;

  add(html: string, isPlain = false): void {
    if (html === "") return;
    const text = isPlain ? html : unescaped(html);
    if (this.#pre > 0) return this.#write(text);
    const words = text.replaceAll(/[\s\u00a0]+/g, " ");
    if (words.startsWith(" ")) this.#space = true;
    const trimmed = words.trim();
    if (trimmed === "") return;
    this.#write(trimmed);
    this.#space = words.endsWith(" ");
  }

  begin(name: string): void {
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (level !== undefined) this.#write(`${"#".repeat(Number(level))} `);
    else if (name === "li") this.#write("- ");
    else if (name === "hr") this.#write("---");
    else if ((name === "td" || name === "th") && this.#break === 0) this.#write(" | ");
    else if (name === "pre") this.#pre += 1;
  }

  endPre(): void {
    this.#pre = Math.max(0, this.#pre - 1);
  }

  break(count: number): void {
    this.#break = Math.max(this.#break, count);
  }

  get all(): string {
    return this.#parts.join("").trim();
  }

  #write(text: string): void {
    if (this.#parts.length > 0 && this.#break > 0) this.#parts.push("\n".repeat(this.#break));
    else if (this.#space && this.#pre === 0) this.#parts.push(" ");
    this.#break = 0;
    this.#space = false;
    this.#parts.push(text);
  }
}

const unescaped = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(
        /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,30}));?/g,
        (found, decimal?: string, hex?: string, name?: string) => {
          if (name !== undefined) return named.get(name) ?? found;
          const code = decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal);
          const isCharacter = code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff);
          return isCharacter ? String.fromCodePoint(code) : "\ufffd";
        },
      )
    : text;

/** Those that pages use; others stay as they are written. */
const named = new Map(
  (
    "amp & lt < gt > quot \" apos ' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ " +
    "ldquo “ rdquo ” sbquo ‚ bdquo „ laquo « raquo » bull • middot · times × divide ÷ minus − deg ° plusmn ± " +
    "euro € pound £ yen ¥ cent ¢ sect § para ¶ larr ← rarr → uarr ↑ darr ↓ harr ↔ rArr ⇒ lArr ⇐ le ≤ ge ≥ ne ≠ " +
    "asymp ≈ infin ∞ frac12 ½ frac14 ¼ sup2 ² sup3 ³ micro µ alpha α beta β gamma γ delta δ lambda λ pi π sigma σ " +
    "omega ω check ✓ aacute á Aacute Á eacute é Eacute É iacute í oacute ó Oacute Ó uacute ú agrave à egrave è " +
    "igrave ì ograve ò ugrave ù acirc â ecirc ê icirc î ocirc ô ucirc û auml ä Auml Ä euml ë iuml ï ouml ö Ouml Ö " +
    "uuml ü Uuml Ü szlig ß ntilde ñ Ntilde Ñ atilde ã otilde õ ccedil ç Ccedil Ç aring å Aring Å aelig æ AElig Æ " +
    "oslash ø Oslash Ø"
  )
    .split(" ")
    .reduce<[string, string][]>((pairs, word, index) => {
      if (index % 2 === 0) pairs.push([word, ""]);
      else (pairs.at(-1) as [string, string])[1] = word;
      return pairs;
    }, []),
);
for (const [name, text] of [
  ["shy", ""],
  ["zwj", ""],
  ["zwnj", ""],
  ["ensp", " "],
  ["emsp", " "],
  ["thinsp", " "],
] as const)
  named.set(name, text);
