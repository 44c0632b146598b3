import {
  type BriefType,
  briefTypes,
  type Classification,
  type Classified,
  type Complexity,
  type Expertise,
  expertises,
  type Parallelism,
} from "./classification.ts";
import { type FoundSigns, findSigns, type Sign } from "./find-signs.ts";
import { itemCount, readInPart } from "./tokens.ts";

/** The weight of signs that makes an expertise necessary. */
const needed = 2;
/** Weight of a phrase that names an expertise. */
const veryName = 3;
/** Rules match phrases, not meaning: their confidence stays below 1. */
const mostConfidence = 0.95;
const leastConfidence = 0.2;
const fewWords = 5;
const fewWordsConfidence = 0.4;
/** Later mentions of tests, documentation and operation accompany the work; they do not decide its type. */
const accompanying: readonly BriefType[] = ["testing", "documentation", "infrastructure"];
const accompanyingShare = 0.4;
/** "Write unit tests", "Create a user guide": the object right after the verb decides. */
const objects: readonly BriefType[] = [...accompanying, "research"];
const atOnce = 4;

/** By rules alone: the same brief always gives the same classification. */
export const classifyBrief = (brief: string): Classification => classifyByRules(brief).classification;

/** As `classifyBrief`, with its reasons. */
export function classifyByRules(brief: string): Classified {
  const found = findSigns(brief);
  const types = weighTypes(found);
  const [best, second] = [types[0] as WeighedType, types[1] as WeighedType];
  const type = best.weight === 0 ? "feature" : best.type;
  const expertise = neededExpertise(found.signs, type);
  const complexity = complexityOf(found, expertise, type, itemCount(brief));
  const classification: Classification = {
    type,
    complexity,
    parallelism: parallelismOf(expertise, type, complexity),
    expertise,
    risks: risksOf(found),
    confidence: confidenceOf(found, best.weight, second.weight),
  };
  return {
    classification,
    reason: `${reasonOf(found.signs, type)}${readInPart(brief)}`,
    rejected: rejectedTypes(types, type),
  };
}

interface WeighedType {
  readonly type: BriefType;
  readonly weight: number;
  /** Where its first sign stands. */
  readonly place: number;
}

/** The heaviest first; of equals the one that the brief begins with. */
function weighTypes(found: FoundSigns): readonly WeighedType[] {
  const weights = new Map<BriefType, number>(found.namesNewThing ? [["feature", 2]] : []);
  const places = new Map<BriefType, number>();
  for (const { type, weight, place } of typeSigns(found)) {
    weights.set(type, (weights.get(type) ?? 0) + weight);
    if (!places.has(type)) places.set(type, place);
  }
  return briefTypes
    .map((type) => ({ type, weight: weights.get(type) ?? 0, place: places.get(type) ?? 0 }))
    .toSorted((a, b) => b.weight - a.weight || a.place - b.place);
}

/** The beginning of a brief counts twice: "Fix ..." is about fixing. */
function typeSigns({ signs, beginning, firstEnd }: FoundSigns): readonly WeighedType[] {
  const [first, ...others] = signs.flatMap(({ place, meaning, isRefused }) =>
    meaning.of === "type" && !isRefused ? [{ type: meaning.name, weight: meaning.weight, place }] : [],
  );
  if (first === undefined) return [];
  const later = others.map((sign) => {
    const isBeside = accompanying.includes(sign.type) && sign.place > firstEnd;
    return isBeside ? { ...sign, weight: sign.weight * accompanyingShare } : sign;
  });
  if (first.place !== beginning || first.weight === 1) return [first, ...later];
  const [next] = others;
  const hasObject =
    first.type === "feature" &&
    next !== undefined &&
    next.weight > 1 &&
    next.place <= first.place + atOnce &&
    objects.includes(next.type);
  return [{ ...first, type: hasObject ? next.type : first.type, weight: first.weight * 2 }, ...later];
}

/** The expertise that phrases ask for and no refusal removes; at least the minimum of the type. */
function neededExpertise(signs: readonly Sign[], type: BriefType): readonly Expertise[] {
  const wanted = new Map<Expertise, number>();
  const refused = new Map<Expertise, number>();
  for (const { meaning, isRefused } of signs) {
    if (meaning.of !== "expertise") continue;
    // "no login" does not refuse the backend that a login would have needed.
    if (isRefused && meaning.weight < veryName) continue;
    const weights = isRefused ? refused : wanted;
    weights.set(meaning.name, (weights.get(meaning.name) ?? 0) + meaning.weight);
  }
  const isNeeded = (name: Expertise): boolean => {
    const weight = wanted.get(name) ?? 0;
    return weight >= needed && weight > (refused.get(name) ?? 0);
  };
  const found = new Set(expertises.filter(isNeeded));
  const own = ownExpertise[type];
  if (own !== undefined) found.add(own);
  if (found.size === 0) found.add("backend");
  return expertises.filter((name) => found.has(name));
}

const ownExpertise: Readonly<Partial<Record<BriefType, Expertise>>> = {
  documentation: "docs",
  infrastructure: "devops",
  testing: "testing",
};

/** A fault of a large system is not itself large. */
const changesAPart: readonly BriefType[] = ["bug-fix", "documentation", "testing", "infrastructure"];

function complexityOf(
  { signs, wordCount }: FoundSigns,
  expertise: readonly Expertise[],
  type: BriefType,
  items: number,
): Complexity {
  const weight = signs.reduce(
    (sum, { meaning, isRefused }) => sum + (meaning.of === "size" && !isRefused ? meaning.weight : 0),
    0,
  );
  const points =
    Math.max(-3, Math.min(changesAPart.includes(type) ? 0 : 4, weight)) +
    pointsOf(expertise.filter((name) => name !== ownExpertise[type]).length, [3, 5]) +
    pointsOf(wordCount, [60, 200]) +
    pointsOf(items, [4, 8]) -
    (type === "bug-fix" || type === "documentation" ? 1 : 0);
  if (points <= 0) return "small";
  return points <= 3 ? "medium" : "large";
}

/** One point from each of these limits on. */
const pointsOf = (count: number, limits: readonly number[]): number =>
  limits.filter((limit) => count >= limit).length;

const tracks: readonly Expertise[] = ["backend", "frontend", "database", "devops", "docs"];

function parallelismOf(
  expertise: readonly Expertise[],
  type: BriefType,
  complexity: Complexity,
): Parallelism {
  if (type === "bug-fix" || type === "documentation" || complexity === "small") return "few";
  const count = tracks.filter((track) => expertise.includes(track)).length;
  if (count <= 1) return "few";
  return count <= 3 ? "some" : "many";
}

const isShort = "The brief is short: requirements are guesses until a person confirms them.";
const noKnownPhrase = "The rules know no phrase of the brief: the plan is a guess.";

function risksOf({ signs, wordCount }: FoundSigns): readonly string[] {
  const risks = signs.flatMap(({ meaning, isRefused }) =>
    meaning.of === "risk" && !isRefused ? [meaning.sentence] : [],
  );
  const more = wordCount < fewWords ? [isShort] : signs.length === 0 ? [noKnownPhrase] : [];
  return [...new Set([...risks, ...more])];
}

/** From the clarity of the type and the number of signs. */
function confidenceOf({ signs, wordCount }: FoundSigns, best: number, second: number): number {
  const telling = new Set(
    signs.flatMap(({ phrase, meaning: { of } }) => (of === "type" || of === "expertise" ? [phrase] : [])),
  ).size;
  if (telling === 0) return leastConfidence;
  const clearness = best === 0 ? 0 : ((best - second) / best) * Math.min(1, best / 4);
  const confidence = 0.3 + 0.35 * clearness + 0.06 * Math.min(5, telling);
  return round(Math.min(wordCount < fewWords ? fewWordsConfidence : mostConfidence, confidence));
}

const round = (value: number): number => Math.round(value * 100) / 100;

const mostWords = 12;

function reasonOf(signs: readonly Sign[], type: BriefType): string {
  const wanted = phrasesOf(signs, type, { refused: false });
  const refused = phrasesOf(signs, type, { refused: true });
  if (wanted === "" && refused === "") return "The rules know no phrase of the brief.";
  return [
    ...(wanted === "" ? [] : [`The brief says ${wanted}.`]),
    ...(refused === "" ? [] : [`It does not want ${refused}.`]),
  ].join(" ");
}

function phrasesOf(signs: readonly Sign[], type: BriefType, { refused }: { refused: boolean }): string {
  const telling = signs.flatMap(({ phrase, meaning, isRefused }) => {
    const counts = meaning.of === "type" ? meaning.name === type : meaning.of === "expertise";
    return counts && isRefused === refused ? [phrase] : [];
  });
  const isPart = (phrase: string): boolean =>
    telling.some((longer) => longer !== phrase && ` ${longer} `.includes(` ${phrase} `));
  const shown = [...new Set(telling)].filter((phrase) => !isPart(phrase)).slice(0, mostWords);
  return shown.map((phrase) => `"${phrase}"`).join(", ");
}

function rejectedTypes(types: readonly WeighedType[], chosen: BriefType): readonly string[] {
  const best = types.find(({ type }) => type === chosen)?.weight ?? 0;
  return types
    .filter(({ type, weight }) => type !== chosen && weight > 0)
    .map(
      ({ type, weight }) => `${type}: its signs weigh ${round(weight)}, those of ${chosen} ${round(best)}`,
    );
}
