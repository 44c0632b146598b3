import { expect, test } from "vitest";
import { JournalCorrupt } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import { recordedDefinition } from "../../../src/team/definition/recorded.ts";
import { definitionJson } from "../../../src/team/definition/team-definition.ts";
import { definitionOf, fileTeam } from "./written-team.ts";

test("a recorded definition is read back unchanged", () => {
  const definition = definitionOf(fileTeam([{ name: "a", personas: ["b"] }]));
  const recorded = JSON.parse(JSON.stringify(definitionJson(definition))) as Json;
  expect(recordedDefinition(recorded)).toStrictEqual(definition);
});

test.each<[Json]>([
  [null],
  [[]],
  [{ name: "t" }],
  [{ name: "t", phases: {} }],
  [{ name: "t", phases: [{ name: "a", personas: [] }] }],
  [{ name: "t", phases: [{ name: "a", dependsOn: [], personas: [{ name: "b", work: "function" }] }] }],
])("what has another form is not guessed at: %j", (recorded) => {
  expect(() => recordedDefinition(recorded)).toThrow(JournalCorrupt);
});
