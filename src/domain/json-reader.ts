import type { Json } from "./json-value.ts";

const space = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const plainCharacters = /[ !#-[\]-\uffff]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * A plain JSON reader for two cases that JSON.parse does not handle: locating the place where text stops being
 * JSON, and reading escaped keys. It is slow and recursive, so check the depth of the text first.
 */
export class JsonReader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** `undefined` means that the text is not JSON. `place` then says where. */
  read(): Json | undefined {
    const value = this.value();
    if (value !== undefined) this.skip(space);
    return this.at === this.text.length ? value : undefined;
  }

  place(): { readonly line: number; readonly column: number; readonly found: string } {
    const before = this.text.slice(0, this.at).split("\n");
    const character = this.text.codePointAt(this.at);
    return {
      line: before.length,
      column: (before.at(-1)?.length ?? 0) + 1,
      found: character === undefined ? "end of the text" : JSON.stringify(String.fromCodePoint(character)),
    };
  }

  private value(): Json | undefined {
    this.skip(space);
    const next = this.text[this.at];
    if (next === "{") return this.object();
    if (next === "[") return this.list("]", () => this.value());
    if (next === '"') return this.string();
    const start = this.at;
    return this.skip(scalar) ? scalarOf(this.text.slice(start, this.at)) : undefined;
  }

  private object(): Json | undefined {
    const members = this.list("}", () => this.member());
    // fromEntries defines members, so a key `__proto__` stays an ordinary key, and the last of equal keys wins.
    return members && Object.fromEntries(members);
  }

  private list<T>(end: string, element: () => T | undefined): T[] | undefined {
    const elements: T[] = [];
    this.at += 1;
    if (this.takes(end)) return elements;
    do {
      const read = element();
      if (read === undefined) return undefined;
      elements.push(read);
    } while (this.takes(","));
    return this.takes(end) ? elements : undefined;
  }

  private member(): readonly [string, Json] | undefined {
    this.skip(space);
    const key = this.string();
    if (key === undefined || !this.takes(":")) return undefined;
    const value = this.value();
    return value === undefined ? undefined : [key, value];
  }

  private string(): string | undefined {
    if (this.text[this.at] !== '"') return undefined;
    const start = this.at;
    this.at += 1;
    do this.skip(plainCharacters);
    while (this.skip(escape));
    if (this.text[this.at] !== '"') return undefined;
    this.at += 1;
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  private takes(character: string): boolean {
    this.skip(space);
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const matches = pattern.test(this.text);
    if (matches) this.at = pattern.lastIndex;
    return matches;
  }
}

function scalarOf(token: string): Json {
  if (token === "null") return null;
  return token === "true" || token === "false" ? token === "true" : Number(token);
}
