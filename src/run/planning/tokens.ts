/** A word of a brief, or the end of a clause: `;` certainly, `,` possibly. */
export type Token = string;

/** Enough for any brief; a longer one is classified by its beginning. */
const maxCharacters = 20_000;

/** Recorded for a brief that is longer than that. */
export const readInPart = (brief: string): string =>
  brief.length > maxCharacters
    ? ` Only the first ${maxCharacters.toLocaleString("en-US")} characters were read.`
    : "";

const address = /\bhttps?:\/\/\S+/g;
const lineThatEndsAClause = /\n(?=\s*(?:[-*•#>]|\d+[.)]|\n))/g;
const wordOrEnd = /[\p{L}\p{N}]+(?:['.][\p{L}\p{N}]+)*[+#]*|[.;:!?,()]/gu;

/** Lower case, without hyphens and addresses; bounded. */
export function tokensOf(brief: string): readonly Token[] {
  const text = beginningOf(brief)
    .normalize("NFKC")
    .slice(0, maxCharacters)
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(address, " ")
    .replace(lineThatEndsAClause, " ; ")
    .replace(/[-_/]/g, " ");
  return (text.match(wordOrEnd) ?? []).map((token) => (/^[.:!?()]$/.test(token) ? ";" : token));
}

/** Lines that look like items of a list. */
export function itemCount(brief: string): number {
  return beginningOf(brief).match(/^[ \t]{0,8}(?:[-*•]|\d{1,3}[.)])[ \t]+\S/gm)?.length ?? 0;
}

export const isWord = (token: Token | undefined): token is string =>
  token !== undefined && token !== ";" && token !== ",";

const beginningOf = (brief: string): string => brief.slice(0, maxCharacters).replaceAll("\r\n", "\n");
