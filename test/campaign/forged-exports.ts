import { gunzipSync, gzipSync } from "node:zlib";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import { events } from "../../src/journal/events.ts";
import { type Content, projectAgain, sealAgain } from "../support/sealed-export.ts";
import { randomJson } from "../unit/domain/seeded-random.ts";

export type Random = () => number;

/** An export in parts that an attacker can change. */
export interface Parts {
  readonly outer: JsonObject & { readonly artifacts: readonly string[] };
  readonly contents: readonly Content[];
}

export interface Forged {
  readonly what: string;
  readonly bytes: Buffer;
  /** The texts of its checkpoints, where it has any. */
  readonly checkpoints?: readonly string[];
}

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;
const indexIn = (random: Random, { length }: { readonly length: number }): number =>
  Math.floor(random() * length);

const pack = (outer: JsonObject, checkpoints: readonly string[]): Buffer => {
  const { artifacts, ...head } = outer;
  return gzipSync(JSON.stringify({ ...head, checkpoints, artifacts }), { level: 1 });
};

/** One export with one lie in it. The same seed tells the same lie. */
export function forge(random: Random, parts: Parts): Forged {
  const lie = pick(random, lies);
  return { ...lie(random, structuredClone(parts) as Mutable), what: lie.name };
}

type Mutable = {
  outer: Record<string, Json> & { artifacts: string[] };
  contents: Content[];
};
type Lie = (random: Random, parts: Mutable) => Omit<Forged, "what">;

const sealed = ({ outer, contents }: Mutable, texts: (contents: Content[]) => string[]) => {
  const checkpoints = texts(contents);
  return { bytes: pack(outer, checkpoints), checkpoints };
};

/** Right seals, and summaries that say what the rows say, as far as the rows make a state. */
const carefully = (parts: Mutable) => {
  try {
    return sealed(parts, projectAgain);
  } catch {
    return sealedOrRaw(parts);
  }
};

/** Right seals alone; unsealed where no seal can hold the lie. */
const sealedOrRaw = (parts: Mutable) => {
  try {
    return sealed(parts, sealAgain);
  } catch {
    return {
      bytes: pack(
        parts.outer,
        parts.contents.map((content) => JSON.stringify(content)),
      ),
    };
  }
};

const seal = (random: Random, parts: Mutable) => (random() < 0.5 ? carefully(parts) : sealedOrRaw(parts));

const hostileTexts = [
  "../../../etc/passwd",
  "/etc/passwd",
  "checkpoint_x.json",
  "\0",
  "\u202e",
  "\ud800",
  "__proto__",
  "constructor",
  "",
  " ",
  "' OR 1=1 --",
  "$(touch /tmp/x)",
  "init",
  "x".repeat(20_000),
  "0".repeat(64),
  "2026-13-45",
];
const hostileNumbers = [
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 48 + 1,
  2 ** 53,
  2 ** 53 - 1,
  1e21,
  1e308,
  5e-324,
  8.64e15 + 1,
];
const deep = (depth: number): Json => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as Json;

function otherValue(random: Random, before: Json): Json {
  const kind = random();
  if (kind < 0.25) return pick(random, hostileTexts);
  if (kind < 0.5) return pick(random, hostileNumbers);
  if (kind < 0.55) return deep(pick(random, [190, 210, 1_000]));
  if (kind < 0.6) return JSON.parse('{"__proto__":{"polluted":true}}') as Json;
  if (kind < 0.7) return pick(random, [null, true, false, [], {}]);
  if (kind < 0.8 && typeof before === "string") return `${before}x`;
  if (kind < 0.9 && typeof before === "number") return before + 1;
  return randomJson(random);
}

/** Changes, removes, adds or doubles one member somewhere inside. */
function changeWithin(random: Random, root: Json): Json {
  const places: { readonly holder: Record<string, Json>; readonly key: string }[] = [];
  const visit = (value: Json): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      places.push({ holder: value as unknown as Record<string, Json>, key });
      visit((value as unknown as Record<string, Json>)[key] as Json);
    }
  };
  visit(root);
  if (places.length === 0) return otherValue(random, root);
  const { holder, key } = pick(random, places);
  const act = random();
  if (act < 0.7) holder[key] = otherValue(random, holder[key] as Json);
  else if (act < 0.85 && Array.isArray(holder)) holder.splice(Number(key), 1);
  else if (act < 0.85) delete holder[key];
  else if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
  else
    Object.assign(holder, { [pick(random, ["more", "tree", "kind", "toString"])]: otherValue(random, null) });
  return root;
}

function changeText(random: Random, text: string): string {
  try {
    return JSON.stringify(changeWithin(random, JSON.parse(text) as Json));
  } catch {
    return text.slice(1);
  }
}

const rowsOf = (random: Random, { contents }: Mutable): Content["rows"] =>
  pick(
    random,
    contents.filter(({ rows }) => rows.length > 0),
  ).rows;

const lies: readonly Lie[] = [
  function flippedByte(random, { outer, contents }) {
    const bytes = pack(outer, sealAgain(contents));
    const at = indexIn(random, bytes);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << indexIn(random, { length: 8 }));
    return { bytes };
  },
  function flippedText(random, { outer, contents }) {
    const bytes = gunzipSync(pack(outer, sealAgain(contents)));
    for (let flips = 1 + indexIn(random, { length: 3 }); flips > 0; flips -= 1) {
      const at = indexIn(random, bytes);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << indexIn(random, { length: 8 }));
    }
    return { bytes: gzipSync(bytes) };
  },
  function truncated(random, { outer, contents }) {
    const bytes = pack(outer, sealAgain(contents));
    return { bytes: bytes.subarray(0, indexIn(random, bytes)) };
  },
  function twoFiles(random, { outer, contents }) {
    const bytes = pack(outer, sealAgain(contents));
    return { bytes: Buffer.concat([bytes, pick(random, [bytes, Buffer.from("more"), gzipSync("{}")])]) };
  },
  function otherForm(random, { outer, contents }) {
    const text = gunzipSync(pack(outer, sealAgain(contents))).toString();
    const changed = pick(random, [
      ` ${text}`,
      `${text}\n`,
      text.replace('"format":1', '"format":1,"format":1'),
      text.replace('"format":1', '"format":1.0'),
      text.replace("{", '{"__proto__":{},'),
      `[${text}]`,
      text.replace('"kind"', '"k\\u0069nd"'),
    ]);
    return { bytes: gzipSync(changed) };
  },
  function outerValue(random, { outer, contents }) {
    const checkpoints = sealAgain(contents);
    const { artifacts, ...head } = outer;
    const whole = changeWithin(random, { ...head, checkpoints, artifacts }) as JsonObject;
    return { bytes: gzipSync(JSON.stringify(whole)) };
  },
  function checkpointsLacking(random, parts) {
    parts.contents.splice(indexIn(random, parts.contents), 1);
    return seal(random, parts);
  },
  function checkpointsTwice(random, parts) {
    const copy = structuredClone(pick(random, parts.contents));
    if (random() < 0.5) copy.revision += 1;
    parts.contents.push(copy);
    return sealedOrRaw(parts);
  },
  function artifactsChanged(random, parts) {
    const { artifacts } = parts.outer;
    const at = indexIn(random, artifacts);
    const act = indexIn(random, { length: 4 });
    if (act === 0) artifacts.splice(at, 1);
    else if (act === 1) artifacts.push(artifacts[at] ?? "");
    else if (act === 2) artifacts[at] = Buffer.from("other").toString("base64");
    else artifacts.push(Buffer.from(String(random())).toString("base64"));
    return sealedOrRaw(parts);
  },
  function summaryChanged(random, parts) {
    const content = pick(random, parts.contents);
    const { rows, ...summary } = content;
    Object.assign(content, changeWithin(random, summary as unknown as Json), { rows });
    return sealedOrRaw(parts);
  },
  function rowChanged(random, parts) {
    const row = pick(random, rowsOf(random, parts));
    row.body = changeText(random, row.body);
    return seal(random, parts);
  },
  function rowMoved(random, parts) {
    const rows = rowsOf(random, parts);
    const [from, to] = [indexIn(random, rows), indexIn(random, rows)];
    const [row] = rows.splice(from, 1);
    if (row !== undefined) rows.splice(to, 0, row);
    return seal(random, parts);
  },
  function rowLacking(random, parts) {
    const rows = rowsOf(random, parts);
    rows.splice(indexIn(random, rows), 1);
    return seal(random, parts);
  },
  function rowInvented(random, parts) {
    const rows = rowsOf(random, parts);
    const at = indexIn(random, rows);
    const model = rows[at];
    if (model === undefined) return seal(random, parts);
    const kind = random() < 0.9 ? pick(random, Object.keys(events)) : pick(random, hostileTexts);
    const body = random() < 0.5 ? model.body : JSON.stringify(randomJson(random));
    rows.splice(at, 0, { ...model, kind, body, seq: model.seq - (random() < 0.5 ? 0 : 0.5) });
    // A gap between two rows of a truthful session is where a step was.
    return seal(random, parts);
  },
  function rowsColumn(random, parts) {
    const row = pick(random, rowsOf(random, parts)) as unknown as Record<string, Json>;
    const column = pick(random, ["seq", "at", "kind", "body"]);
    row[column] = otherValue(random, row[column] as Json);
    return seal(random, parts);
  },
  function termsChanged(random, parts) {
    const [init] = parts.contents;
    if (init !== undefined)
      Object.assign(init, { session: changeWithin(random, init.session as unknown as Json) });
    return seal(random, parts);
  },
];
