const quote = 0x22;
const backslash = 0x5c;

/** One linear pass without recursion, so that the depth of hostile text is known before anything recurses into it. */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  // Most text has few brackets, and searching for them is many times faster than looking at each character.
  if (countUpTo(text, "[", maxDepth) + countUpTo(text, "{", maxDepth) <= maxDepth) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

function countUpTo(text: string, character: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= max; at = text.indexOf(character, at + 1))
    count += 1;
  return count;
}
