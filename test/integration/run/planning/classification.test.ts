import { describe, expect, test } from "vitest";
import { briefTypes, expertises } from "../../../../src/run/planning/classification.ts";
import { classifyBrief, classifyByRules } from "../../../../src/run/planning/classify-brief.ts";
import { words } from "../../../../src/run/planning/words.ts";
import { corpus } from "./corpus.ts";

describe("a brief is classified as people mean it", () => {
  test("the corpus covers all types and all kinds of expertise", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    expect(new Set(corpus.map(({ type }) => type))).toEqual(new Set(briefTypes));
    expect(new Set(corpus.flatMap(({ expertise }) => expertise))).toEqual(new Set(expertises));
    expect(new Set(corpus.map(({ brief }) => brief)).size).toBe(corpus.length);
  });

  test.each(corpus)("$type, $complexity: $brief", ({ brief, risks, ...expected }) => {
    const { risks: found, confidence, ...classification } = classifyBrief(brief);
    expect(classification).toEqual({ ...expected });
    expect(found).toHaveLength(risks.length);
    for (const words of risks) expect(found).toContainEqual(expect.stringContaining(words));
    expect(confidence).toBeGreaterThanOrEqual(0.2);
    expect(confidence).toBeLessThanOrEqual(0.95);
  });
});

describe("refused parts of a brief are not planned", () => {
  const needs = (brief: string) => classifyBrief(brief).expertise;

  test.each([
    ["Build an API. No frontend.", "frontend"],
    ["Build an API with no need for a frontend.", "frontend"],
    ["Build an API without a database.", "database"],
    ["Build an API without a frontend, a database or docs.", "frontend"],
    ["Build an API without a frontend, a database or docs.", "database"],
    ["Build an API without a frontend, a database or docs.", "docs"],
    ["Build an API without any\nfrontend at all.", "frontend"],
    ["Build an API.\n\n- no database\n- fast", "database"],
    ["Build an API; the frontend is out of scope.", "frontend"],
    ["Build an API. Docs are not needed.", "docs"],
    ["Build an API. The database schema stays as it is.", "database"],
    ["Build an API and do not touch the database.", "database"],
    ["Build an API; we don’t need tests.", "testing"],
    ["Build a command line tool rather than a web UI.", "frontend"],
    ["Build a static page instead of a server.", "backend"],
    ["Add an endpoint for the dashboard, no frontend changes.", "frontend"],
  ])("%s -> no %s", (brief, refused) => {
    expect(needs(brief)).not.toContain(refused);
  });

  test.each([
    ["Build an API, no frontend, just a database behind it.", "database"],
    ["No frontend but a database.", "database"],
    ["No frontend and a database with three tables.", "database"],
    ["Build an API without login, with a database.", "backend"],
    ["An API without login.", "backend"],
    ["Not only an API, also a frontend.", "frontend"],
    ["Users cannot open the dashboard.", "frontend"],
    ["The API no longer answers.", "backend"],
    ["No one can open the frontend.", "frontend"],
    ["Do not break the API.", "backend"],
    ["Build a React page with charts, buttons and forms; no frontend framework besides.", "frontend"],
  ])("%s -> still %s", (brief, wanted) => {
    expect(needs(brief)).toContain(wanted);
  });

  test("a refusal is neither a risk nor a type", () => {
    expect(classifyBrief("Build a shop without payments.").risks.join()).not.toContain("Payments");
    expect(classifyBrief("This is not a bug. Add a button to the page.").type).toBe("feature");
  });

  test("a refusal is part of the recorded reason", () => {
    expect(classifyByRules("Build a REST API. No frontend.").reason).toBe(
      'The brief says "build", "rest api". It does not want "frontend".',
    );
  });
});

describe("phrases match whole words", () => {
  test.each([
    ["Prefix the ids of all orders.", "bug-fix"],
    ["It is important to be honest.", "database"],
    ["Build a capital rapid adapter.", "testing"],
  ])("%s is not taken for %s", (brief, not) => {
    const { type, expertise } = classifyBrief(brief);
    expect([type, ...expertise]).not.toContain(not);
  });

  test.each([
    ["FRONT-END", "frontend"],
    ["front end", "frontend"],
    ["Frontend.", "frontend"],
    ["(frontend)", "frontend"],
    ["ｆｒｏｎｔｅｎｄ", "frontend"],
    ["Node.js", "backend"],
    ["CI/CD", "devops"],
  ])("%s is found in any spelling", (written, wanted) => {
    expect(classifyBrief(`Please look after ${written}`).expertise).toContain(wanted);
  });

  test("text of a web address is not part of the brief", () => {
    expect(classifyBrief("Do as on https://example.com/frontend/database/fix-bug.").expertise).toEqual([
      "backend",
    ]);
  });

  test("an error message is not an error in the brief", () => {
    expect(classifyBrief("Better error messages in the issue tracker of the bug tracker.").type).toBe(
      "feature",
    );
  });
});

describe("for any brief", () => {
  test("the same text gives the same classification, and a repeated phrase counts once", () => {
    for (const { brief } of corpus) expect(classifyByRules(brief)).toEqual(classifyByRules(brief));
    const once = classifyBrief("Fix the API of the shop");
    expect(classifyBrief(`Fix the API of the shop${" the API".repeat(40)}`)).toEqual(once);
  });

  test("a very long one is classified quickly by its beginning", () => {
    const beginning = "Fix the API. ".repeat(2_000);
    const began = process.cpuUsage();
    const classified = classifyBrief(
      `${beginning}${"no backend, a frontend with a database! ".repeat(25_000)}`,
    );
    const { user } = process.cpuUsage(began);
    expect(classified).toEqual(classifyBrief(beginning.slice(0, 20_000)));
    expect(classified.expertise).toEqual(["backend"]);
    expect(user / 1_000).toBeLessThan(2_000);
  });

  test("the reason mentions if only its beginning was read", () => {
    const { reason } = classifyByRules("Fix the API. ".repeat(2_000));
    expect(reason).toContain("the first 20,000 characters");
    for (const { brief } of corpus) expect(classifyByRules(brief).reason).not.toContain("characters");
  });

  test("characters that expand are bounded as well", () => {
    expect(classifyBrief("ﷺ".repeat(1_000_000))).toMatchObject({ expertise: ["backend"], confidence: 0.2 });
  });

  test.each([
    ["nothing", ""],
    ["blanks", " \n\t \r\n"],
    ["signs", "... ,,, ((( ;;; ???"],
    ["one letter", "x"],
    ["names of built-in things", "constructor __proto__ toString hasOwnProperty valueOf"],
    ["half a pair of surrogates", `\ud83d ${"\ud83d".repeat(100)}`],
    ["one character that is eighteen", "ﷺ".repeat(3)],
    ["no space at all", "a".repeat(100_000)],
    ["only refusals", "no not without no no neither nor no"],
    ["a star", "migrat* *"],
    ["zeros", "\0\0\0"],
  ])("%s gives a classification that can be planned", (_, brief) => {
    const { type, expertise, confidence, complexity, parallelism } = classifyBrief(brief);
    expect({ type, expertise, complexity, parallelism }).toEqual({
      type: brief.startsWith("migrat") ? "refactoring" : "feature",
      expertise: ["backend"],
      complexity: "small",
      parallelism: "few",
    });
    expect(confidence).toBeLessThanOrEqual(0.8);
  });
});

test("each phrase of the table can be found, and appears once for each meaning", () => {
  const lists = [
    ...Object.values(words.type).flatMap((weighed) => Object.values(weighed).join(", ")),
    ...Object.values(words.expertise).flatMap((weighed) => Object.values(weighed).join(", ")),
    ...Object.values(words.risk),
    words.nothing,
  ];
  for (const list of [...lists, words.size.map(([, phrases]) => phrases).join(", ")]) {
    const phrases = list.split(/,\s+/);
    expect(phrases.filter((phrase, index) => phrases.indexOf(phrase) !== index)).toEqual([]);
    for (const phrase of phrases) expect(phrase).toMatch(/^[a-z0-9.']+\*?(?: [a-z0-9.']+\*?)*$/);
  }
});
