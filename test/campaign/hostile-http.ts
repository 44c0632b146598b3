import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { defineTeam, persona, phase } from "../../src/index.ts";
import type { Problem } from "../../src/server/problem.ts";
import { type RunningServer, serve } from "../../src/server/serve.ts";
import { randomJson, seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";
import { inFolder } from "./in-folder.ts";

type Random = () => number;

const token = "a-token-that-only-tests-know-0123456789";
const base = "http://127.0.0.1:4160";
const withoutToken = ["/healthz", "/login", "/signed-out"];

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;

/** Values that have confused some program before. */
const oddTexts = [
  "",
  " ",
  "0",
  "-1",
  "1e999",
  "NaN",
  "null",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "..",
  "../../etc/passwd",
  "%00",
  "%2e%2e%2f",
  "%E0%A4%A",
  "\u202e",
  "é",
  "😀",
  "' OR 1=1 --",
  "<script>alert(1)</script>",
  "9007199254740993",
  "2026-13-45",
  "attempt:a/b/r1a1",
  "phase:first@0",
  "x".repeat(5_000),
];

const names =
  "team brief key model budget pauseAfter only from until edits dryRun acceptChanges phase note resume at fresh usd tokens persona unknown".split(
    " ",
  );
const queryNames =
  "status q team since cursor limit after text before show by session format at round attempt code journal unknown __proto__".split(
    " ",
  );

/** A body that some route takes. */
const validBodies: readonly unknown[] = [
  {},
  { team: "quick", brief: "something" },
  {
    team: "quick",
    brief: "x",
    key: "other",
    budget: { usd: 1, tokens: 5 },
    pauseAfter: ["first"],
    only: ["first"],
  },
  {
    at: "first",
    edits: { first: { outputs: { a: 1 }, files: { "a.txt": "b" }, summary: "s" } },
    dryRun: true,
  },
  { phase: "first", note: "no", resume: true },
  { usd: 1, tokens: 100, persona: "worker", phase: "first" },
  { edits: { first: { files: { "../x": null } } }, acceptChanges: true },
];

const team = defineTeam("quick", {
  phases: [
    phase("first", { personas: [persona("worker", { run: async () => ({ summary: "done" }) })] }),
    phase("second", { personas: [persona("worker", { run: async () => ({ summary: "done" }) })] }),
  ],
});

/**
 * Random paths, queries, headers and bodies, most with the right token: each is answered, or refused with a problem that
 * has a stable code and plain words. A refused one changes nothing.
 */
export function attackApp(seed: number, attacks = 150): Promise<number> {
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const stateDir = join(folder, "state");
    const server = await serveIn(stateDir);
    try {
      const { id } = await server.maestro.create(team, { brief: "something", key: "known" });
      const routes = routesOf(server, [id, "known"]);
      for (let attack = 0; attack < attacks; attack += 1) {
        const before = stateOf(stateDir);
        const asked = requestOf(random, pick(random, routes));
        const answer = await server.app.request(`${base}${asked.path}`, asked.init);
        const about = `${asked.init.method} ${asked.path.slice(0, 300)} ${asked.body.slice(0, 500)}`;
        await judge(
          answer,
          asked.hasToken || withoutToken.some((path) => asked.path.startsWith(path)),
          about,
        );
        if (answer.status >= 400) orElse("let in", () => expect(stateOf(stateDir), about).toEqual(before));
      }
      expect(server.reports, "unexpected errors in the log").toEqual([]);
      return attacks;
    } finally {
      await server.stop();
    }
  });
}

async function serveIn(stateDir: string): Promise<RunningServer & { readonly reports: string[] }> {
  const reports: string[] = [];
  const overrides = { server: { apiToken: token }, stateDir };
  const loaded = await loadConfig({ cwd: "/", env: {}, overrides });
  const server = await serve({
    loaded,
    teams: [{ team, file: undefined, builtIn: false }],
    version: "0.0.0-test",
    report: (notice) => {
      if (notice.startsWith("Request ")) reports.push(notice);
    },
  });
  return { ...server, reports };
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly known: readonly string[];
}

function routesOf({ app }: RunningServer, known: readonly string[]): Route[] {
  return app.routes
    .filter(({ method, path }) => method !== "ALL" && !path.includes("*"))
    .map(({ method, path }) => ({ method, path, known }));
}

/** Paths that Node itself refuses never reach the app. */
function isSendable(path: string): boolean {
  return URL.canParse(`${base}${path}`) && !/[\s\p{Cc}]/u.test(path);
}

interface Asked {
  readonly path: string;
  readonly init: RequestInit & { readonly method: string };
  /** For messages. */
  readonly body: string;
  readonly hasToken: boolean;
}

function requestOf(random: Random, route: Route): Asked {
  const part = () => (random() < 0.5 ? pick(random, route.known) : pick(random, oddTexts));
  const filled = route.path.replaceAll(/:\w+/g, (name) =>
    name === ":phase" && random() < 0.6 ? "first" : random() < 0.7 ? encodeURIComponent(part()) : part(),
  );
  const query = Array.from({ length: Math.floor(random() * 4) }, () => {
    const value = pick(random, [...oddTexts, ...route.known, "10", "running", "all"]);
    return `${pick(random, queryNames)}=${random() < 0.8 ? encodeURIComponent(value) : value}`;
  });
  const asked = query.length === 0 ? filled : `${filled}?${query.join("&")}`;
  const path = isSendable(asked) ? asked : route.path.replaceAll(/:\w+/g, "x");
  const method =
    random() < 0.9 ? route.method : pick(random, ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
  const hasToken = random() < 0.85;
  const headers: Record<string, string> = {
    ...(hasToken && { authorization: `Bearer ${token}` }),
    ...(random() < 0.1 && { "last-event-id": encodeURIComponent(pick(random, oddTexts)).slice(0, 500) }),
    ...(random() < 0.1 && { accept: pick(random, ["application/json", "text/html", "*/*;q=x", ""]) }),
    ...(random() < 0.05 && { cookie: `maestro_x=${encodeURIComponent(pick(random, oddTexts))}` }),
  };
  if (method === "GET" || method === "HEAD") return { path, init: { method, headers }, body: "", hasToken };
  const type =
    random() < 0.9
      ? "application/json"
      : pick(random, ["text/plain", "application/json; charset=utf-16", ""]);
  const body = bodyOf(random);
  return {
    path,
    init: { method, headers: { ...headers, "content-type": type }, body },
    body: typeof body === "string" ? body : Buffer.from(body).toString("latin1"),
    hasToken,
  };
}

function bodyOf(random: Random): string | Uint8Array<ArrayBuffer> {
  const kind = random();
  const valid = pick(random, validBodies);
  if (kind < 0.2) return JSON.stringify(valid);
  if (kind < 0.7) return JSON.stringify(changed(random, valid));
  if (kind < 0.8) return JSON.stringify(randomJson(random));
  if (kind < 0.85) return JSON.stringify(valid).slice(0, Math.floor(random() * 60));
  if (kind < 0.9) return pick(random, ["[", '{"edits":{"first":{"outputs":']).repeat(200);
  if (kind < 0.95) return `{"team":"quick","brief":"a","team":${JSON.stringify(randomJson(random, 1))}}`;
  return new Uint8Array(Array.from({ length: 40 }, () => Math.floor(random() * 256)));
}

/** The same with another value somewhere, or with one more field. */
function changed(random: Random, value: unknown): unknown {
  const other = () => (random() < 0.5 ? pick(random, oddTexts) : randomJson(random, 2));
  if (typeof value !== "object" || value === null) return other();
  const entries = Object.entries(value);
  if (entries.length === 0 || random() < 0.3) return { ...value, [pick(random, names)]: other() };
  const [chosen] = pick(random, entries);
  return Object.fromEntries(
    entries.map(([name, each]) => [name, name === chosen ? changed(random, each) : each]),
  );
}

/** The words of libraries and of the runtime. */
const rawWords =
  /Invalid (?:input|option|key)|[Ee]xpected (?:string|number|object|array|boolean|record|int)|received|Too (?:small|big)|zod|\[object|TypeError|RangeError|SyntaxError|Cannot |is not a function|Unexpected token|SQLITE|ENOENT|\bundefined\b(?!")|\bat .*\.(?:js|ts):\d+/;

async function judge(answer: Response, mayEnter: boolean, about: string): Promise<void> {
  if (!mayEnter) orElse("let in", () => expect([401, 403], about).toContain(answer.status));
  if (answer.status < 400) {
    await answer.body?.cancel();
    return;
  }
  const text = await answer.text();
  const isPage = (answer.headers.get("content-type") ?? "").startsWith("text/html");
  if (isPage) return expect(answer.status, about).toBe(401);
  expect(answer.headers.get("content-type"), `${about}: ${text}`).toBe("application/problem+json");
  const problem = JSON.parse(text) as Problem;
  expect(problem.status, `${about}: ${text}`).toBe(answer.status);
  expect(problem.code, `${about}: ${text}`).toMatch(/^[A-Z][A-Z_]+$/);
  expect(problem.code, `${about}: ${text}`).not.toBe("UNEXPECTED");
  expect(answer.status, `${about}: ${text}`).toBeLessThan(500);
  const said = [
    problem.detail,
    problem.advice ?? "",
    ...(problem.fields ?? []).map(({ message }) => message),
  ];
  // Text of the request may be quoted.
  for (const words of said)
    expect(words.replaceAll(/"[^"]*"/g, '""'), `${about}: ${text}`).not.toMatch(rawWords);
}

const tables = ["sessions", "session_cards", "inbox", "breakers", "tickets", "logins"];

/** Everything that a request could change. */
function stateOf(stateDir: string): unknown {
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  try {
    return {
      rows: tables.map((table) => JSON.stringify(database.prepare(`SELECT * FROM ${table}`).all())),
      journal: database.prepare("SELECT count(*) AS rows, max(position) AS last FROM journal").get(),
      ledger: database.prepare("SELECT count(*) AS rows FROM ledger").get(),
      files: readdirSync(stateDir, { recursive: true, encoding: "utf8" })
        // Blobs are stored before the row that points to them, so that a refusal may leave one: prune removes it.
        .filter((name) => !/^(?:maestro\.db|artifacts)/.test(name))
        .sort(),
    };
  } finally {
    database.close();
  }
}
