// Writes the documents that are generated from definitions: docs/cli.md, docs/team-file.md, team.schema.json, and the
// table of settings in docs/trust.md.
// With --check it writes nothing, and fails if one of them is out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { teamSchema } from "../src/team/definition/team-schema.ts";
import { cliPage } from "./cli-docs.mjs";
import { teamFilePage } from "./team-file-docs.mjs";
import { withTrustTable } from "./trust-docs.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const documents = {
  "docs/cli.md": cliPage,
  "docs/team-file.md": teamFilePage,
  "docs/trust.md": () => withTrustTable(readFileSync(join(root, "docs/trust.md"), "utf8")),
  "team.schema.json": () => `${JSON.stringify(teamSchema(), null, 2)}\n`,
};

for (const [file, make] of Object.entries(documents)) {
  const path = join(root, file);
  const text = make();
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (read(path) !== text) {
    process.stderr.write(`${file} is out of date: npm run docs\n`);
    process.exitCode = 1;
  }
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
