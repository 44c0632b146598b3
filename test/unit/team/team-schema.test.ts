import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../../src/domain/json.ts";
import type { Section } from "../../../src/team/definition/fields.ts";
import { GivenFiles } from "../../../src/team/definition/given-files.ts";
import { Place, Problems } from "../../../src/team/definition/place.ts";
import { teamFileSections } from "../../../src/team/definition/team-keys.ts";
import { teamSchema } from "../../../src/team/definition/team-schema.ts";
import { checkSchema, showProblem, validateJson } from "../../../src/workspace/json-schema.ts";
import { beyondSchema, fileTeam, holdAgainstSchema, problemsOf, works } from "./written-team.ts";

const root = join(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const everyKey = "test/fixtures/teams/every-key.yaml";

test("the schema is one that its own validator checks fully", () => {
  expect(checkSchema(teamSchema())).toEqual([]);
});

test.each([
  "test/fixtures/teams/product.yaml",
  "test/fixtures/teams/product.json",
  everyKey,
  "test/crash/support/model-team.yaml",
  "teams/software-delivery.yaml",
  "teams/demo/team.yaml",
])("%s fits the schema", (file) => {
  expect(validateJson(teamSchema(), parse(read(file)) as Json).map(showProblem)).toEqual([]);
});

test("the example of docs/team-file.md is a valid team", () => {
  const [, example = ""] = /```yaml\n(name: [\s\S]*?)```/.exec(read("docs/team-file.md")) ?? [];
  expect(problemsOf(parse(example))).toEqual([]);
});

test.each(
  teamFileSections.flatMap(({ name, keys }) =>
    Object.entries(keys).map(([key, one]) => [`${name}.${key}`, one] as const),
  ),
)("the example of %s is one that its reader and its schema accept", (_name, { kind, example }) => {
  const problems = new Problems(new GivenFiles(join(root, "test/fixtures/teams")));
  kind.read(example, new Place(problems, "the example", []));
  expect(problems.found).toEqual([]);
  const { $defs } = teamSchema();
  expect(validateJson({ ...kind.schema, $defs: $defs as Json }, example).map(showProblem)).toEqual([]);
});

test("the fixture with every key has every key, so that a new one is read from a file in the tests", () => {
  const written = parse(read(everyKey)) as Json;
  const names = new Set<string>();
  JSON.stringify(written, (key, value: unknown) => {
    names.add(key);
    return value;
  });
  const keys = teamFileSections.flatMap((section: Section) => Object.keys(section.keys));
  expect(keys.filter((key) => !names.has(key))).toEqual([]);
});

test("a rule that the schema cannot express is reported by the reader alone", () => {
  const team = fileTeam([{ name: "a", personas: ["b"], dependsOn: ["c"] }]);
  expect(validateJson(teamSchema(), team as Json)).toEqual([]);
  expect(problemsOf(team)).toEqual([expect.stringMatching(beyondSchema[0] as RegExp)]);
});

test("a disagreement between the schema and the reader is found", () => {
  const wrong = fileTeam([{ name: "a", personas: ["b"] }], { b: works({ maxAttempts: 0 }) });
  expect(() => holdAgainstSchema(wrong, [])).toThrow("disagree");
  expect(() => holdAgainstSchema(fileTeam([{ name: "a", personas: ["b"] }]), ["x is wrong."])).toThrow(
    "disagree",
  );
});
