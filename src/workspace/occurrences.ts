/** Places where the needle is in the text, overlapping ones too, in time proportional to both whatever they are. */
export function occurrencesOf(needle: string, text: string, most?: number): number[] {
  return occurrences(unitsOf(text), unitsOf(needle), most);
}

/** Places where these lines follow each other among the others, whatever spaces are at their ends. */
export function occurrencesOfLines(
  needle: readonly string[],
  lines: readonly string[],
  most?: number,
): number[] {
  // Numbers are compared faster than lines; what is not looked for at all is 0.
  const numbers = new Map<string, number>();
  for (const line of needle) if (!numbers.has(line.trim())) numbers.set(line.trim(), numbers.size + 1);
  const numbered = (line: string): number => numbers.get(line.trim()) ?? 0;
  return occurrences(Uint32Array.from(lines, numbered), Uint32Array.from(needle, numbered), most);
}

const unitsOf = (text: string): Uint16Array => {
  const bytes = Buffer.from(text, "utf16le");
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
};

/** Knuth, Morris and Pratt. */
function occurrences(
  haystack: ArrayLike<number>,
  needle: ArrayLike<number>,
  most = Number.POSITIVE_INFINITY,
): number[] {
  if (needle.length === 0 || needle.length > haystack.length) return [];
  const fallbacks = fallbacksOf(needle);
  const found: number[] = [];
  let matched = 0;
  for (let at = 0; at < haystack.length; at += 1) {
    while (matched > 0 && needle[matched] !== haystack[at]) matched = fallbacks[matched - 1] ?? 0;
    if (needle[matched] === haystack[at]) matched += 1;
    if (matched < needle.length) continue;
    if (found.push(at + 1 - needle.length) === most) return found;
    matched = fallbacks[matched - 1] ?? 0;
  }
  return found;
}

/** How much of the needle's beginning stands again at each of its places. */
function fallbacksOf(needle: ArrayLike<number>): Uint32Array {
  const fallbacks = new Uint32Array(needle.length);
  let matched = 0;
  for (let at = 1; at < needle.length; at += 1) {
    while (matched > 0 && needle[matched] !== needle[at]) matched = fallbacks[matched - 1] ?? 0;
    if (needle[matched] === needle[at]) matched += 1;
    fallbacks[at] = matched;
  }
  return fallbacks;
}
