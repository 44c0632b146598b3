const invisible = /\p{Mn}|\p{Me}|\p{Cf}/u;
const wide =
  /\p{Emoji_Presentation}|[\u{1100}-\u{115f}\u{2e80}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{20000}-\u{3fffd}]/u;
const onlyNarrow = /^[\x20-\x7e]*$/;

/** How many columns a text takes; escape sequences must be out of it. */
export function widthOf(text: string): number {
  if (onlyNarrow.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** Cut to the columns there are, with a sign that something is missing. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return "";
  let kept = "";
  let width = 0;
  for (const character of text) {
    const next = columnsOf(character);
    if (width + next > columns - 1) break;
    kept += character;
    width += next;
  }
  return `${kept}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

/** Broken between words into lines that fit. */
export function wrap(text: string, columns: number): string[] {
  const words = text.split(/\s+/).filter((found) => found !== "");
  return wrapWords(words, columns);
}

/** A word longer than a line is cut into pieces, unless it has spaces: then somebody wants it whole. */
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
      const piece = cut(word, room + 1).slice(0, -1) || word.slice(0, 1);
      lines.push(piece);
      word = word.slice(piece.length);
    }
    line = word;
  }
  if (line !== "") lines.push(line);
  return lines;
}

function columnsOf(character: string): number {
  if (invisible.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
