import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "../../../src/domain/json.ts";
import { checkSchema, validateJson } from "../../../src/workspace/json-schema.ts";

/**
 * A checkout of json-schema-org/JSON-Schema-Test-Suite. No npm package carries its tests for 2020-12, so they run only
 * where a checkout is named: JSON_SCHEMA_TEST_SUITE=../JSON-Schema-Test-Suite npx vitest run json-schema-suite
 */
const suite = process.env["JSON_SCHEMA_TEST_SUITE"];

interface Group {
  readonly description: string;
  readonly schema: Json;
  readonly tests: readonly { readonly description: string; readonly data: Json; readonly valid: boolean }[];
}

test.skipIf(suite === undefined)("the official tests for 2020-12 find no wrong answer", () => {
  const folder = join(suite ?? "", "tests/draft2020-12");
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  const wrong: string[] = [];
  const refused = new Map<string, number>();
  let right = 0;
  for (const file of files) {
    for (const group of JSON.parse(readFileSync(join(folder, file), "utf8")) as readonly Group[]) {
      const [problem] = checkSchema(group.schema);
      for (const { description, data, valid } of group.tests) {
        if (problem !== undefined) refused.set(file, (refused.get(file) ?? 0) + 1);
        else if ((validateJson(group.schema, data).length === 0) === valid) right += 1;
        else wrong.push(`${file}: ${group.description}: ${description}`);
      }
    }
  }
  const refusals = [...refused.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(`JSON Schema 2020-12: ${right} right, ${wrong.length} wrong, ${refusals} refused\n`);
  process.stdout.write(`refused by file: ${JSON.stringify(Object.fromEntries(refused))}\n`);
  expect(files.length).toBeGreaterThan(40);
  expect(wrong).toEqual([]);
  expect(right).toBeGreaterThan(900);
});
