/**
 * Whether a key of the text is written with an escape. JSON.parse of V8 12.8 and later can take such a key for
 * another one that it has seen before (`{"a":1,"\n":2}` after `{"a":1,"\\":2}`; nodejs/node#63785).
 */
export function hasEscapedKey(text: string): boolean {
  // In JSON a backslash can only be within a string, so the search starts there and not at the string.
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    at = endOfString(text, at);
    if (isColon(text, at)) return true;
  }
  return false;
}

/** The offset after the closing quote of the string that `start` is in. */
function endOfString(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); at < text.length && code !== 0x22; code = text.charCodeAt(at)) {
    at += code === 0x5c ? 2 : 1;
  }
  return at + 1;
}

function isColon(text: string, start: number): boolean {
  let at = start;
  while (" \t\n\r".includes(text[at] ?? ":")) at += 1;
  return text[at] === ":";
}
