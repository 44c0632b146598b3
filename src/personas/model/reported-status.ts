import { readProperty } from "../../domain/bounded-json.ts";
import { overflowWords } from "./context-overflow.ts";

/** Members that hold the code or type of an error, in order of precedence. */
const named: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too.?many.?requests|throttl|quota|resource.?exhausted/i, 429],
  [/overload/i, 529],
  [/unavailable/i, 503],
  [/time.?out|deadline/i, 504],
  [/not.?found/i, 404],
  [/api.?key|auth/i, 401],
  [/permission|forbidden/i, 403],
  [/billing|payment|credit/i, 402],
  [/context.?length|invalid|bad.?request|content.?(?:filter|policy)|data.?inspection|moderation/i, 400],
  [/server.?error|internal|api_error/i, 500],
];

/** Messages of servers that name no code. */
const said: readonly (readonly [RegExp, number])[] = [
  [/\brate limit (?:is |was )?(?:exceeded|reached)|\btoo many requests\b/i, 429],
  [overflowWords, 400],
  [/\bmodel\b[^.]{0,80}\b(?:not found|does not exist)\b/i, 404],
];

const longestWord = 100;
const longestSentence = 8000;

/**
 * The HTTP status that an error in a body means. Compatible servers write it as its code, some as text, and many name it
 * only in its message, as the providers' own interfaces do.
 */
export function reportedStatus(error: object): number | undefined {
  const read = (key: string): unknown => readProperty(error, key);
  for (const key of ["statusCode", "status", "code"]) {
    const value = read(key);
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599)
      return status;
  }
  for (const key of ["code", "type", "status"]) {
    const status = meaning(named, read(key), longestWord);
    if (status !== undefined) return status;
  }
  return meaning(said, read("message"), longestSentence);
}

function meaning(
  table: readonly (readonly [RegExp, number])[],
  words: unknown,
  longest: number,
): number | undefined {
  if (typeof words !== "string") return undefined;
  return table.find(([pattern]) => pattern.test(words.slice(0, longest)))?.[1];
}
