/** The kind of a token. Kinds differ in weight and shade only, because color means status. */
type TokenKind = "plain" | "keyword" | "string" | "comment";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

interface Language {
  readonly lineComment: readonly string[];
  readonly blockComment?: readonly [string, string];
  readonly quotes: readonly string[];
  /** Quotes of strings that may span lines. */
  readonly longQuotes: readonly string[];
  readonly keywords: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const script: Language = {
  lineComment: ["//"],
  blockComment: ["/*", "*/"],
  quotes: ['"', "'"],
  longQuotes: ["`"],
  keywords: words(
    "abstract any as async await boolean break case catch class const continue default delete do else enum export extends false finally fn for from func function go if impl import in instanceof interface let match mod mut namespace new null number of package private protected pub public readonly return satisfies static string struct super switch this throw trait true try type typeof undefined union use var void while with yield int long char float double bool auto defer range chan map nil select",
  ),
};

const hashed: Language = {
  lineComment: ["#"],
  quotes: ['"', "'"],
  longQuotes: ['"""', "'''"],
  keywords: words(
    "and as assert async await break case class continue def do done elif else esac except export False fi finally for from function global if import in is lambda local None nonlocal not null or pass raise return then True true false try until while with yield",
  ),
};

const sql: Language = {
  lineComment: ["--"],
  blockComment: ["/*", "*/"],
  quotes: ["'", '"'],
  longQuotes: [],
  keywords: words(
    "add all alter and as asc begin between by case cascade check column commit constraint create default delete desc distinct drop else end exists foreign from full group having if in index inner insert integer into is join key left like limit not null on or order outer primary references right rollback select set table text then to union unique update values view when where with bigint",
  ),
};

const markup: Language = {
  lineComment: [],
  blockComment: ["<!--", "-->"],
  quotes: ['"'],
  longQuotes: [],
  keywords: words(""),
};
const nothing: Language = { lineComment: [], quotes: [], longQuotes: [], keywords: words("") };

const byEnding: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(
    [
      "ts",
      "tsx",
      "mts",
      "cts",
      "js",
      "jsx",
      "mjs",
      "cjs",
      "json",
      "jsonc",
      "css",
      "scss",
      "java",
      "c",
      "h",
      "cpp",
      "hpp",
      "cs",
      "go",
      "rs",
      "swift",
      "kt",
      "php",
      "proto",
      "graphql",
    ].map((ending) => [ending, script]),
  ),
  ...Object.fromEntries(
    [
      "py",
      "yaml",
      "yml",
      "toml",
      "sh",
      "bash",
      "rb",
      "ini",
      "conf",
      "env",
      "dockerfile",
      "makefile",
      "tf",
    ].map((ending) => [ending, hashed]),
  ),
  sql,
  html: markup,
  xml: markup,
  svg: markup,
  vue: markup,
};

function languageOf(path: string): Language {
  const name = path.split("/").at(-1)?.toLowerCase() ?? "";
  return byEnding[name.split(".").at(-1) ?? ""] ?? nothing;
}

/** The string or comment that is open at the end of a line. */
type Open = { readonly kind: "string" | "comment"; readonly end: string } | undefined;

const longestLine = 5000;
const wordPattern = /[A-Za-z_$][\w$]*/y;

/** Highlights line by line, remembering only the open string or comment. Linear for any text. */
export function highlightLines(lines: readonly string[], path: string): Token[][] {
  const language = languageOf(path);
  let open: Open;
  return lines.map((line) => {
    const result = highlightLine(line, language, open);
    open = result.open;
    return result.tokens;
  });
}

function highlightLine(line: string, language: Language, openBefore: Open): { tokens: Token[]; open: Open } {
  const tokens: Token[] = [];
  let open = openBefore;
  let plainFrom = 0;
  let index = 0;
  const push = (kind: TokenKind, to: number) => {
    if (plainFrom < index) tokens.push({ kind: "plain", text: line.slice(plainFrom, index) });
    if (to > index) tokens.push({ kind, text: line.slice(index, to) });
    index = to;
    plainFrom = to;
  };
  // Minified files are not highlighted.
  const end = Math.min(line.length, longestLine);
  while (index < end) {
    if (open !== undefined) {
      const close = closingAt(line, index, open);
      const { kind } = open;
      if (close !== undefined) open = undefined;
      push(kind, close ?? line.length);
      continue;
    }
    const started = startAt(line, index, language);
    if (started?.kind === "line-comment") {
      push("comment", line.length);
    } else if (started !== undefined) {
      const { kind, end: closing, length, long } = started;
      const close = closingAt(line, index + length, { kind, end: closing });
      if (close === undefined && long) open = { kind, end: closing };
      push(kind, close ?? line.length);
    } else {
      wordPattern.lastIndex = index;
      const [word] = wordPattern.exec(line) ?? [];
      if (word === undefined) index += 1;
      else if (language.keywords.has(word)) push("keyword", index + word.length);
      else index += word.length;
    }
  }
  index = line.length;
  if (plainFrom < index) tokens.push({ kind: "plain", text: line.slice(plainFrom) });
  return { tokens, open };
}

type Started =
  | { readonly kind: "line-comment" }
  | {
      readonly kind: "string" | "comment";
      readonly end: string;
      readonly length: number;
      readonly long: boolean;
    };

function startAt(line: string, index: number, language: Language): Started | undefined {
  if (language.lineComment.some((mark) => line.startsWith(mark, index))) return { kind: "line-comment" };
  const { blockComment } = language;
  if (blockComment !== undefined && line.startsWith(blockComment[0], index))
    return { kind: "comment", end: blockComment[1], length: blockComment[0].length, long: true };
  const longQuote = language.longQuotes.find((quote) => line.startsWith(quote, index));
  if (longQuote !== undefined)
    return { kind: "string", end: longQuote, length: longQuote.length, long: true };
  const quote = language.quotes.find((mark) => line[index] === mark);
  return quote === undefined ? undefined : { kind: "string", end: quote, length: 1, long: false };
}

/** The index after the end mark. In strings, a backslash escapes the next character. */
function closingAt(
  line: string,
  from: number,
  { kind, end }: { kind: "string" | "comment"; end: string },
): number | undefined {
  for (let index = from; index < line.length; index += 1) {
    if (kind === "string" && line[index] === "\\") index += 1;
    else if (line.startsWith(end, index)) return index + end.length;
  }
  return undefined;
}
