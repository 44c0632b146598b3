/** Needs no segmenting: ASCII, Latin, general punctuation and block elements, one column each. */
const onlyNarrow = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2580-\u259f]*$/;

/** Built on first use: the sets of emoji take 16 ms to build, and most texts do not need them. */
let classes: { readonly emoji: RegExp; readonly invisible: RegExp; readonly wide: RegExp } | undefined;

function graphemeClasses(): NonNullable<typeof classes> {
  classes ??= {
    emoji: /^\p{RGI_Emoji}$/v,
    invisible: /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Mark}]+$/v,
    // East Asian Width W and F, and emoji that terminals show in color without a variation selector.
    wide: /^[\p{Emoji_Presentation}\u{1100}-\u{115f}\u{2329}\u{232a}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe10}-\u{fe19}\u{fe30}-\u{fe6b}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/v,
  };
  return classes;
}

let segmenter: Intl.Segmenter | undefined;

/** Terminals measure graphemes, not code points: a family of four is one picture. */
function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function columnsOf(grapheme: string): number {
  const { emoji, invisible, wide } = graphemeClasses();
  if (invisible.test(grapheme)) return 0;
  return emoji.test(grapheme) || wide.test(grapheme) ? 2 : 1;
}

/** The columns that a text without escape sequences takes. */
export function widthOf(text: string): number {
  if (onlyNarrow.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += columnsOf(grapheme);
  return width;
}

/** The longest prefix of a text that fits. */
function beginning(text: string, columns: number): string {
  let kept = "";
  let width = 0;
  for (const grapheme of graphemes(text)) {
    width += columnsOf(grapheme);
    if (width > columns) break;
    kept += grapheme;
  }
  return kept;
}

/** Cut to fit, with an ellipsis where text is missing. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return columns < 1 ? "" : `${beginning(text, columns - 1)}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

/** Wraps text between words into lines that fit. */
export function wrap(text: string, columns: number): string[] {
  const words = text.split(/\s+/).filter((found) => found !== "");
  return wrapWords(words, columns);
}

/** Splits a word that is longer than a line, unless it contains spaces: such a word is a command to paste. */
export function wrapWords(words: readonly string[], columns: number): string[] {
  const room = Math.max(1, columns);
  const lines: string[] = [];
  let line = "";
  for (let word of words) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) <= room) {
      line += ` ${word}`;
      continue;
    }
    if (line !== "") lines.push(line);
    while (widthOf(word) > room && !word.includes(" ")) {
      const piece = beginning(word, room) || (graphemes(word).next().value ?? word);
      lines.push(piece);
      word = word.slice(piece.length);
    }
    line = word;
  }
  if (line !== "") lines.push(line);
  return lines;
}
