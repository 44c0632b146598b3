import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TeamInvalid } from "../../../src/domain/errors.ts";
import { loadTeam } from "../../../src/index.ts";

const fixture = (name: string) => join(import.meta.dirname, "../../fixtures/teams", name);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "maestro-team-files-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, content);
  return file;
}

async function refusal(file: string): Promise<TeamInvalid> {
  const error: unknown = await loadTeam(file).then(
    () => new Error("it was taken"),
    (thrown: unknown) => thrown,
  );
  if (TeamInvalid.is(error)) return error;
  throw error;
}

/** The message for a file of this content, without the file's name. */
async function messageFor(ending: "yaml" | "json", content: string | Uint8Array): Promise<string> {
  const file = await written(`wrong.${ending}`, content);
  const { message } = await refusal(file);
  expect(message).toContain(file);
  return message.replaceAll(file, "FILE");
}

const good = "name: t\nphases: [{ name: a, personas: [b] }]\npersonas: { b: { instructions: x } }\n";

describe("one team in three languages", () => {
  test("is one definition with one fingerprint", async () => {
    const [yaml, json, code] = await Promise.all(
      ["product.yaml", "product.json", "product.ts"].map((name) => loadTeam(fixture(name))),
    );
    expect(json?.team.definition).toStrictEqual(yaml?.team.definition);
    expect(code?.team.definition).toStrictEqual(yaml?.team.definition);
    expect(new Set([yaml, json, code].map((loaded) => loaded?.team.fingerprint)).size).toBe(1);
    expect(yaml).toMatchObject({ file: fixture("product.yaml"), team: { name: "product" } });
  });

  test("may say everything there is to say", async () => {
    const { team } = await loadTeam(fixture("every-key.yaml"));
    expect(team.definition).toMatchObject({
      description: "Each key that a team file may have, once.",
      parallel: 2,
      protect: ["spec/**", "package.json#scripts"],
      web: { allow: ["docs.example"] },
      budget: { tokens: 900_000, usd: 20 },
      phases: [
        {
          dependsOn: [],
          gate: { threshold: 0.5, onFail: "warn" },
          review: true,
          budget: { tokens: 100_000 },
          personas: [
            {
              work: {
                instructions: "Plan: every word counts.\nNothing else does.\n",
                model: "anthropic/claude-sonnet-4-5",
                fallbackModels: ["openai/gpt-5", "simulated"],
                maxSteps: 40,
                maxOutputTokens: 8_000,
                temperature: 0.2,
              },
              budget: { usd: 1.25 },
              maxAttempts: 2,
              timeoutMs: 60_000,
              healing: false,
              tools: ["read_file", "submit"],
              skills: [
                {
                  name: "review",
                  description: "How a change is reviewed here.",
                  files: [{ path: "SKILL.md", bytes: 88 }],
                },
              ],
              context: [{ path: "AGENTS.md" }, { path: "docs/style.md", bytes: 23 }],
              contract: { outputs: { type: "object", required: ["risk"] } },
            },
          ],
        },
        {
          dependsOn: ["plan"],
          gate: { threshold: 1, onFail: "review" },
          personas: [
            {
              healing: true,
              consumes: ["planner"],
              mayChange: ["spec/**"],
              policy: {
                write: ["src/**"],
                checks: ["compiles"],
              },
              tools: [
                "read_file",
                "edit_file",
                "write_file",
                "run_check",
                "run_command",
                "fetch_url",
                "submit",
                "db/query*",
                "web/*",
              ],
              shell: { network: ["registry.example"], timeoutMs: 600_000, env: ["NODE_ENV"], effect: "once" },
              web: { allow: ["*.wiki.example"] },
              contract: {
                deliverables: [{ name: "code", files: ["src/**/*.ts"], must: true, weight: 3 }],
                checks: [
                  { name: "compiles", run: ["npx", "tsc"], must: false, weight: 0.5, timeoutMs: 120_000 },
                ],
              },
            },
            {
              policy: { write: [] },
              work: {
                kind: "command",
                argv: ["codex"],
                agent: { name: "codex", model: "openai/gpt-5-codex", permissions: "read" },
                env: ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
              },
            },
            {
              work: {
                kind: "command",
                // As written: it is found from the workspace, wherever the team file lies.
                argv: ["./bin/agent", "--print"],
                instructions: "Look over what was built.",
                reserve: { tokens: 50_000, usd: 2 },
                network: false,
                env: ["AGENT_HOME"],
              },
            },
          ],
        },
      ],
    });
    expect(team.phases.map(({ name, personas }) => [name, personas.map((one) => one.name)])).toEqual([
      ["plan", ["planner"]],
      ["build", ["builder", "reviewer", "agent"]],
    ]);
  });

  test("may share parts by anchor and alias", async () => {
    const file = await written(
      "shared.yaml",
      "name: t\nphases: [{ name: a, personas: [b, c] }]\npersonas:\n  b: &b { instructions: x }\n  c: *b\n",
    );
    const { team } = await loadTeam(file);
    expect(team.definition.phases[0]?.personas.map(({ work }) => work)).toMatchObject([
      { instructions: "x" },
      { instructions: "x" },
    ]);
  });

  test("may begin with a byte order mark, have Windows line ends, or be a link", async () => {
    await expect(loadTeam(await written("mark.yaml", `\ufeff${good}`))).resolves.toBeDefined();
    await expect(loadTeam(await written("lines.yml", good.replaceAll("\n", "\r\n")))).resolves.toBeDefined();
    const json =
      '\ufeff{"name":"t","phases":[{"name":"a","personas":["b"]}],"personas":{"b":{"instructions":"x"}}}';
    await expect(loadTeam(await written("mark.json", json))).resolves.toBeDefined();
    await symlink(await written("target.yaml", good), join(directory, "link.yaml"));
    await expect(loadTeam(join(directory, "link.yaml"))).resolves.toBeDefined();
  });
});

describe("problems are named with file, line and column", () => {
  test.each([
    [
      "a key",
      "name: t\nmodle: simulated\nphases:\n  - name: a\n    personas: [b]\npersonas:\n  b:\n    instructions: x\n",
      'line 2, column 1: the team has an unknown key "modle". Did you mean "model"?',
    ],
    [
      "a value",
      "name: t\nmodel:   claude-x\nphases:\n  - name: a\n    personas: [b]\npersonas:\n  b:\n    instructions: x\n",
      'line 2, column 10: the team: model is "claude-x"; it must be provider/model, or "simulated". Did you mean "anthropic/claude-x"?',
    ],
    [
      "an item",
      "name: t\nphases:\n  - name: a\n    personas:\n      - b\n      - bb\npersonas:\n  b:\n    instructions: x\n",
      'line 6, column 9: phase "a": personas[1] is "bb", and there is no such persona. Did you mean "b"?',
    ],
    [
      "a key deep inside",
      "name: t\nphases:\n  - name: a\n    personas: [b]\npersonas:\n  b:\n    instructions: x\n    contract:\n      checks:\n        - name: c\n          run: [c]\n          weigth: 2\n",
      'line 12, column 11: persona "b": contract.checks[0] has an unknown key "weigth". Did you mean "weight"?',
    ],
    [
      "what is missing, by what it is missing from",
      "name: t\nphases:\n  - name: a\n    personas: [b]\npersonas:\n  b:\n    maxAttempts: 2\n",
      'line 6, column 3: persona "b" has no work: give it instructions for a model, an agent, or a command.',
    ],
    [
      "a dependency",
      "name: t\nphases:\n  - name: a\n    personas: [b]\n  - name: c\n    dependsOn:\n      - aa\n    personas: [b]\npersonas:\n  b:\n    instructions: x\n",
      'line 7, column 9: phase "c" depends on "aa", and there is no such phase. Did you mean "a"?',
    ],
    [
      "a reader",
      "name: t\nphases:\n  - name: a\n    personas: [b]\npersonas:\n  b:\n    instructions: x\n    consumes: [nobody]\n",
      'line 8, column 16: persona "b" consumes "nobody", and there is no such persona.',
    ],
  ])("%s", async (_title, yaml, problem) => {
    expect(await messageFor("yaml", yaml)).toBe(`The team file FILE is not valid: ${problem}`);
  });

  test("behind an alias, where it was written", async () => {
    const yaml =
      "name: t\nphases: [{ name: a, personas: [b, c] }]\npersonas:\n  b:\n    instructions: x\n    contract: &c { chekcs: [] }\n  c:\n    instructions: y\n    contract: *c\n";
    expect(await messageFor("yaml", yaml)).toBe(
      [
        "The team file FILE has 2 problems:",
        '- line 6, column 20: persona "b": contract has an unknown key "chekcs". Did you mean "checks"?',
        '- line 6, column 20: persona "c": contract has an unknown key "chekcs". Did you mean "checks"?',
      ].join("\n"),
    );
  });

  test("in JSON as well", async () => {
    const json =
      '{\n  "name": "t",\n  "phases": [{ "name": "a", "gates": 1, "personas": ["b"] }],\n\t"personas": {\n\t\t"b": { "instructions": "x",\n\t\t\t"maxAttempts": "3" }\n\t}\n}\n';
    expect(await messageFor("json", json)).toBe(
      [
        "The team file FILE has 2 problems:",
        '- line 3, column 29: phase "a" has an unknown key "gates". Did you mean "gate"?',
        '- line 6, column 19: persona "b": maxAttempts is "3"; it must be a whole number from 1 to 20.',
      ].join("\n"),
    );
  });

  test("in the order of the file, and as data for programs", async () => {
    const file = await written("order.yaml", `modle: x\n${good}maxAttempts: 3\n`);
    const { details } = await refusal(file);
    expect(details).toMatchObject({
      file,
      problems: [
        'line 1, column 1: the team has an unknown key "modle". Did you mean "model"?',
        'line 5, column 1: the team has an unknown key "maxAttempts".',
      ],
      places: [
        { line: 1, column: 1, sentence: 'the team has an unknown key "modle". Did you mean "model"?' },
        { line: 5, column: 1 },
      ],
    });
  });
});

describe("text that is not YAML or JSON is refused at its place", () => {
  test.each([
    [
      "a colon in a text",
      "name: t\ndescription: Note: this\n",
      "line 2, column 14: Nested mappings are not allowed in compact mappings.",
    ],
    ["a tab", "name: t\nphases:\n\t- name: a\n", "line 3, column 1: Tabs are not allowed as indentation."],
    ["an open quote", 'name: "t\n', 'line 2, column 1: Missing closing "quote.'],
    [
      "a key twice",
      "name: t\nmodel: simulated\nname: u\n",
      'line 3, column 1: The key "name" is there twice.',
    ],
    ["two documents", "name: t\n---\nname: u\n", "line 2, column 1: It holds more than one document."],
    ["a tag", "name: !secret t\n", "line 1, column 7: Unresolved tag: !secret."],
    ["binary data", "name: !!binary aGk=\n", "line 1, column 7: Unresolved tag: tag:yaml.org,2002:binary."],
    ["an alias of nothing", "name: *t\n", 'line 1, column 7: There is no anchor for the alias "*t".'],
    ["an alias of itself", "name: &t [*t]\n", 'line 1, column 11: The alias "*t" contains itself.'],
    ["a prototype", "name: t\n__proto__: { x: 1 }\n", 'line 2, column 1: The key "__proto__" is refused.'],
    [
      "an old version",
      "%YAML 1.1\n---\nname: t\n",
      "line 1, column 1: It asks for an old version of YAML; only 1.2 is read.",
    ],
  ])("YAML: %s", async (_title, yaml, problem) => {
    expect(await messageFor("yaml", yaml)).toBe(`The team file FILE cannot be read as YAML: ${problem}`);
  });

  test.each([
    ["a comma too many", '{\n  "name": "t",\n}\n', 'line 3, column 1: Unexpected "}".'],
    ["a comment", '{\n  // hello\n  "name": "t"\n}\n', 'line 2, column 3: Unexpected "/".'],
    ["an end too early", '{\n  "name": "t"', "line 2, column 14: Unexpected end of the text."],
    ["YAML", "name: t\n", 'line 1, column 1: Unexpected "n".'],
    ["a key twice", '{ "name": "t",\n  "name": "u" }', 'line 2, column 3: The key "name" is there twice.'],
    [
      "a prototype",
      '{ "name": "t",\n  "__proto__": {} }',
      'line 2, column 3: The key "__proto__" is refused.',
    ],
    [
      "a prototype in disguise",
      '{ "name": "t",\n  "\\u005f_proto__": {} }',
      'line 2, column 3: The key "__proto__" is refused.',
    ],
  ])("JSON: %s", async (_title, json, problem) => {
    expect(await messageFor("json", json)).toBe(`The team file FILE cannot be read as JSON: ${problem}`);
  });

  test("and the likely mistake comes with what to do", async () => {
    const file = await written("colon.yaml", "name: t\ndescription: Note: this\n");
    expect((await refusal(file)).advice).toContain("into quotes");
  });

  test("an empty file says so", async () => {
    for (const content of ["", "\n# nothing\n", "---\n", "null\n"]) {
      expect(await messageFor("yaml", content)).toBe("The team file FILE is empty.");
    }
    expect(await messageFor("json", "null")).toBe("The team file FILE is empty.");
  });

  test("a team is an object", async () => {
    const rest = "it must be an object with name and phases.";
    expect(await messageFor("yaml", "- name: t\n")).toContain(
      `line 1, column 1: the team is a list; ${rest}`,
    );
    expect(await messageFor("yaml", "hello\n")).toContain(`the team is "hello"; ${rest}`);
    expect(await messageFor("json", "[]")).toContain(`the team is an empty list; ${rest}`);
  });
});

describe("a hostile or unreadable file is refused quickly", () => {
  const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from(
    { length: 12 },
    (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(10)}]\n`,
  ).join("")}name: *a12\n`;

  test.each([
    ["aliases of aliases", "yaml", bomb, "Its aliases make it larger than 4194304 characters."],
    ["a deep list", "yaml", `name: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`, "nested"],
    ["a deep list in lines", "yaml", `${"- ".repeat(100)}x\n`, "It is nested deeper than 80 levels."],
    ["a very deep list in lines", "yaml", `${"- ".repeat(5_000)}x\n`, "It is nested too deeply."],
    [
      "a deep list in JSON",
      "json",
      "[".repeat(100_000) + "]".repeat(100_000),
      "nested deeper than the limit of 80 levels",
    ],
    [
      "aliases that multiply",
      "yaml",
      `a: &a [x]\nb: &b [${"*a,".repeat(60)}]\nc: &c [${"*b,".repeat(60)}]\nname: [${"*c,".repeat(60)}]\n`,
      "Its aliases of aliases add up to more than 10000 uses of one anchor.",
    ],
    [
      "very many aliases",
      "yaml",
      `name: [${Array.from({ length: 5_000 }, (_, index) => `&a${index} x, *a${index}`).join()}]\n`,
      "It uses more than 200 aliases.",
    ],
    [
      "very many keys",
      "yaml",
      Array.from({ length: 15_000 }, (_, index) => `k${index}: 1\n`).join(""),
      "has 15003 problems",
    ],
    ["very many mistakes", "yaml", "]\n".repeat(20_000), "cannot be read as YAML"],
  ] as const)("%s", async (_title, ending, content, why) => {
    const message = await messageFor(ending, content);
    expect(message).toContain(why);
    expect(message.length).toBeLessThan(5_000);
  });

  test("a file over the limit is not read", async () => {
    const large = `${good}# ${"x".repeat(1024 * 1024)}\n`;
    expect(await messageFor("yaml", large)).toMatch(
      /^The team file FILE has \d+ bytes; at most 1048576 are read\.$/,
    );
    const largest = good + "#".repeat(1024 * 1024 - good.length);
    await expect(loadTeam(await written("largest.yaml", largest))).resolves.toBeDefined();
  });

  test("bytes that are not UTF-8 are not guessed at", async () => {
    const bytes = Buffer.concat([Buffer.from(good), Buffer.from([0x23, 0xff, 0xfe])]);
    expect(await messageFor("yaml", bytes)).toBe("The team file FILE is not UTF-8.");
  });

  test("a folder or a pipe is not a team file", async () => {
    await mkdir(join(directory, "folder.yaml"));
    expect((await refusal(join(directory, "folder.yaml"))).message).toContain("is not a regular file");
    const pipe = join(directory, "pipe.yaml");
    execFileSync("mkfifo", [pipe]);
    expect((await refusal(pipe)).message).toContain("is not a regular file");
  });
});

describe("a file is found or its name is questioned", () => {
  test("by its ending", async () => {
    const { message, advice } = await refusal("team.toml");
    expect(message).toBe("team.toml is not a team file.");
    expect(advice).toBe("A team file ends in .ts, .mts, .js, .mjs, .yaml, .yml, .json.");
  });

  test("by its path", async () => {
    expect((await refusal(join(directory, "none.yaml"))).message).toContain("There is no team file");
    expect((await refusal(join(directory, "none.ts"))).message).toContain("There is no team file");
  });

  test("a module says what it exports", async () => {
    expect((await refusal(await written("nothing.mjs", "export default 5;\n"))).message).toContain(
      "has no team",
    );
    expect(
      (await refusal(await written("older.mjs", "export default { phases: [], fingerprint: '' };\n")))
        .message,
    ).toContain("has no team");
    const broken = await refusal(await written("broken.mjs", "throw new Error('early');\n"));
    expect(broken.message).toContain("cannot be loaded: early");
  });
});
