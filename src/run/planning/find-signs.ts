import type { BriefType, Expertise } from "./classification.ts";
import { refusedPlaces } from "./negation.ts";
import { isWord, type Token, tokensOf } from "./tokens.ts";
import { words } from "./words.ts";

/** The meaning of a phrase. */
export type Meaning =
  | { readonly of: "type"; readonly name: BriefType; readonly weight: number }
  | { readonly of: "expertise"; readonly name: Expertise; readonly weight: number }
  | { readonly of: "size"; readonly weight: number }
  | { readonly of: "risk"; readonly sentence: string };

/** A phrase of a brief that means something to the rules. */
export interface Sign {
  /** As it stands in the brief, lower case. */
  readonly phrase: string;
  /** The position of its first word in the brief. */
  readonly place: number;
  readonly meaning: Meaning;
  /** The brief refuses it. */
  readonly isRefused: boolean;
}

export interface FoundSigns {
  /** A repeated phrase counts once; wanted and refused count apart. */
  readonly signs: readonly Sign[];
  readonly wordCount: number;
  /** "A shop for flowers": it begins with a thing that does not exist yet. */
  readonly namesNewThing: boolean;
  /** The position of its first meaningful word: after "please", "we need to" and the like. */
  readonly beginning: number;
  /** The place at which its first sentence ends. */
  readonly firstEnd: number;
}

const politeWords: readonly string[] =
  "please we i you need to should must want can could would like help me us let's urgent hi hello".split(" ");

interface Phrase {
  readonly words: readonly string[];
  readonly meanings: readonly Meaning[];
}

type Phrases = ReadonlyMap<string, readonly Phrase[]>;

/** For each kind of meaning, by how they begin, longest first. */
const phrases: readonly Phrases[] = [
  indexed(
    Object.entries(words.type).flatMap(([name, weighed]) => meaningsOf("type", name as BriefType, weighed)),
  ),
  indexed(
    Object.entries(words.expertise).flatMap(([name, weighed]) =>
      meaningsOf("expertise", name as Expertise, weighed),
    ),
  ),
  indexed(words.size.map(([weight, list]) => [{ of: "size", weight }, list])),
  indexed(Object.entries(words.risk).map(([sentence, list]) => [{ of: "risk", sentence }, list])),
];

export function findSigns(brief: string): FoundSigns {
  const tokens = tokensOf(brief);
  const found = phrases.flatMap((kind) => find(tokens, kind));
  const taken = new Set<number>();
  for (const { place, length } of found) {
    // "not working" refuses nothing; "do not" may, by what comes after it.
    for (let at = place; at < place + length - 1; at += 1) taken.add(at);
  }
  const refused = refusedPlaces(tokens, taken);
  const signs = found.flatMap(({ place, length, meanings }) =>
    meanings.map((meaning) => ({
      phrase: tokens.slice(place, place + length).join(" "),
      place,
      meaning,
      isRefused: refused.has(place),
    })),
  );
  const end = tokens.indexOf(";");
  return {
    signs: distinct(signs),
    wordCount: tokens.filter(isWord).length,
    beginning: tokens.findIndex((token) => isWord(token) && !politeWords.includes(token)),
    namesNewThing: tokens[0] === "a" || tokens[0] === "an",
    firstEnd: end === -1 ? tokens.length : end,
  };
}

interface Found {
  readonly place: number;
  readonly length: number;
  readonly meanings: readonly Meaning[];
}

function find(tokens: readonly Token[], kind: Phrases): readonly Found[] {
  const found: Found[] = [];
  for (let place = 0; place < tokens.length; ) {
    const candidates = kind.get(startOf(tokens[place] ?? "")) ?? [];
    const phrase = candidates.find(({ words }) =>
      words.every((word, index) => fits(word, tokens[place + index])),
    );
    const length = phrase?.words.length ?? 1;
    if (phrase !== undefined) found.push({ place, length, meanings: phrase.meanings });
    place += length;
  }
  return found;
}

function fits(word: string, token: Token | undefined): boolean {
  if (token === undefined) return false;
  return word.endsWith("*") ? token.startsWith(word.slice(0, -1)) : token === word;
}

function distinct(signs: readonly Sign[]): readonly Sign[] {
  const seen = new Set<string>();
  return signs
    .filter(({ phrase, meaning, isRefused }) => {
      const key = JSON.stringify([phrase, meaning, isRefused]);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    })
    .toSorted((a, b) => a.place - b.place);
}

function startOf(word: string): string {
  return word.slice(0, 2);
}

type Listed = readonly [meaning: Meaning, phrases: string];

function meaningsOf(
  of: "type" | "expertise",
  name: BriefType | Expertise,
  weighed: Readonly<Record<number, string>>,
): readonly Listed[] {
  return Object.entries(weighed).map(([weight, list]) => [
    { of, name, weight: Number(weight) } as Meaning,
    list,
  ]);
}

function indexed(listed: readonly Listed[]): Phrases {
  const meanings = new Map<string, Meaning[]>(separate(words.nothing).map((phrase) => [phrase, []]));
  for (const [meaning, list] of listed) {
    for (const phrase of separate(list)) meanings.set(phrase, [...(meanings.get(phrase) ?? []), meaning]);
  }
  const all = [...meanings].map(([phrase, found]) => ({ words: phrase.split(" "), meanings: found }));
  // "migrate data" comes before "migrat*", in any order of the table.
  all.sort((a, b) => b.words.length - a.words.length || Number(isOpen(a)) - Number(isOpen(b)));
  return Map.groupBy(all, (phrase) => startOf(phrase.words[0] ?? ""));
}

function separate(list: string): readonly string[] {
  return list.split(/,\s+/);
}

function isOpen({ words }: Phrase): boolean {
  return words.some((word) => word.endsWith("*"));
}
