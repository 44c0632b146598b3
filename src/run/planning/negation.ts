import { isWord, type Token } from "./tokens.ts";

const listOf = (words: string): readonly string[] => words.split(" ");

/** Refusals of a thing, not of an act: "cannot open the dashboard" implies that there is a dashboard. */
const refusals = listOf("no without excluding except avoid skip neither");
/** "no longer", "no one": nothing is refused. */
const afterNo = listOf("longer one matter more less later");
const comparisons: Readonly<Record<string, string>> = { instead: "of", rather: "than" };
const nots = listOf("not don't doesn't never needn't shouldn't mustn't won't");
/** "do not touch the database" refuses the database, "does not show it" does not. */
const actsOnThings = listOf("a an need use touch change add build write require include want create involve");
const turns = listOf("but however only just although though so because while");
const newThing = listOf("a an the add build use create write it we make");
const lists = listOf("or nor");

/** How many tokens a refusal reaches. */
const reach = 5;

const laterRefusals: readonly (readonly string[])[] = [
  "out of scope",
  "not needed",
  "not required",
  "not necessary",
  "unchanged",
  "stays as",
  "stay as",
  "already exists",
  "already exist",
  "already done",
].map(listOf);

/** The positions of tokens that the brief refuses. `taken`: positions that are part of another phrase. */
export function refusedPlaces(tokens: readonly Token[], taken: ReadonlySet<number>): ReadonlySet<number> {
  const refused = new Set<number>();
  for (const [place, token] of tokens.entries()) {
    if (taken.has(place)) continue;
    const start = beginOfRefused(tokens, place, token);
    if (start !== undefined) {
      // "do not touch it" is no complaint that something does not work.
      if (nots.includes(token)) refused.add(place).add(place - 1);
      for (const at of reachedFrom(tokens, start)) refused.add(at);
    }
    for (const at of refusedBefore(tokens, place)) refused.add(at);
  }
  return refused;
}

function beginOfRefused(tokens: readonly Token[], place: number, token: Token): number | undefined {
  const next = tokens[place + 1] ?? "";
  if (Object.hasOwn(comparisons, token)) return next === comparisons[token] ? place + 2 : undefined;
  if (refusals.includes(token)) return token === "no" && afterNo.includes(next) ? undefined : place + 1;
  return nots.includes(token) && actsOnThings.includes(next) ? place + 2 : undefined;
}

/** To the end of the clause or of the list. */
function* reachedFrom(tokens: readonly Token[], start: number): Generator<number> {
  let left = reach;
  for (let place = start; place < tokens.length && left > 0; place += 1) {
    const token = tokens[place] as Token;
    if (token === ";" || turns.includes(token)) return;
    if (token === "and" && newThing.includes(tokens[place + 1] ?? "")) return;
    if (token === ",") {
      if (!listGoesOn(tokens, place + 1)) return;
      continue;
    }
    if (lists.includes(token)) left = reach;
    left -= 1;
    yield place;
  }
}

/** "without a frontend, a database or docs", but not "no frontend, just a database or files". */
function listGoesOn(tokens: readonly Token[], from: number): boolean {
  for (const token of tokens.slice(from, from + reach)) {
    if (token === ";" || turns.includes(token)) return false;
    if (lists.includes(token)) return true;
  }
  return false;
}

/** "the frontend is out of scope". */
function* refusedBefore(tokens: readonly Token[], place: number): Generator<number> {
  const isRefusal = laterRefusals.some((phrase) =>
    phrase.every((word, index) => tokens[place + index] === word),
  );
  if (!isRefusal) return;
  for (let before = place - 1; before >= Math.max(0, place - reach - 1); before -= 1) {
    const token = tokens[before];
    if (!isWord(token) || turns.includes(token)) return;
    yield before;
  }
}
