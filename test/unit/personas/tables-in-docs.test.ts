import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyContract } from "../../../src/domain/contract.ts";
import { knownProviders, providers } from "../../../src/personas/model/provider-table.ts";
import { toolNames, tools } from "../../../src/personas/tools/tool-table.ts";

function rowsBelow(page: string, heading: string): string[] {
  const lines = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8").split("\n");
  const from = lines.indexOf(heading) + 2;
  return lines.slice(from, lines.indexOf("", from));
}

const optional = (variable: string, isOptional: boolean): string =>
  `\`${variable}\`${isOptional ? " (optional)" : ""}`;

test("docs/models.md lists every provider with its variables", () => {
  expect(rowsBelow("models.md", "| model | key | address |")).toEqual(
    knownProviders.map((name) => {
      const { example, keyVariable, keyRequired, baseUrlVariable, defaultBaseUrl } = providers[name];
      const address = optional(baseUrlVariable, defaultBaseUrl !== undefined);
      return `| \`${example}\` | ${optional(keyVariable, !keyRequired)} | ${address} |`;
    }),
  );
});

test("docs/tools.md lists every tool with its description", () => {
  expect(rowsBelow("tools.md", "| tool | what it does |")).toEqual(
    toolNames.map((name) => {
      const description = tools[name].description(emptyContract).replace(" It has none.", "");
      return `| \`${name}\` | ${description} |`;
    }),
  );
});
