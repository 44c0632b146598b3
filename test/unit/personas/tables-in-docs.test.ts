import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyContract } from "../../../src/domain/contract.ts";
import { knownProviders, providers } from "../../../src/personas/model/provider-table.ts";
import { toolNames, tools } from "../../../src/personas/tools/tool-table.ts";

const document = readFileSync(new URL("../../../docs/models.md", import.meta.url), "utf8");

function rowsBelow(heading: string): string[] {
  const lines = document.split("\n");
  const from = lines.indexOf(heading) + 2;
  return lines.slice(from, lines.indexOf("", from));
}

const optional = (variable: string, isOptional: boolean): string =>
  `\`${variable}\`${isOptional ? " (optional)" : ""}`;

test("docs/models.md lists every provider with its variables", () => {
  expect(rowsBelow("| model | key | address |")).toEqual(
    knownProviders.map((name) => {
      const { example, keyVariable, keyRequired, baseUrlVariable, defaultBaseUrl } = providers[name];
      const address = optional(baseUrlVariable, defaultBaseUrl !== undefined);
      return `| \`${example}\` | ${optional(keyVariable, !keyRequired)} | ${address} |`;
    }),
  );
});

test("docs/models.md lists every tool with its description", () => {
  expect(rowsBelow("| tool | what it does |")).toEqual(
    toolNames.map((name) => {
      const description = tools[name].description(emptyContract).replace(" It has none.", "");
      return `| \`${name}\` | ${description} |`;
    }),
  );
});
