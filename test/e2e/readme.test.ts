import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder, place, read } from "./support/packed.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

/** The first code block of a language after a heading. */
function block(heading: string, language: string): string {
  const section = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  return new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\`\n`).exec(section)?.[1] ?? "";
}

test("the README's team has twenty lines, and its commands run it to completion with the simulated model", () => {
  const { folder, env } = place({ MAESTRO_MODEL: "simulated" });
  const team = block("Use it", "yaml");
  expect(team.split("\n").filter((line) => !line.startsWith("#"))).toHaveLength(20);
  writeFileSync(join(folder, "team.yaml"), team);
  const entry = join(packageFolder, "bin/maestro.cjs");
  // npx is replaced by the packed command, because the package is not installed here.
  const script = block("Use it", "sh").replaceAll(/^npx.*$/gm, '$&\necho "ended with $?"');
  const said = execFileSync(
    "bash",
    ["-c", `npx() { shift; "${process.execPath}" "${entry}" "$@"; }\n${script}`],
    {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: "pipe",
    },
  );
  expect(said.match(/ended with \d+/g)).toEqual(["ended with 4", "ended with 0", "ended with 0"]);
  expect(said).toMatch(/is parked \(review\)[^]*is completed[^]*Together: /);
  expect(read({ folder, env }, "parking/docs/design.md")).toContain("# ");
});

test("the README's program runs unchanged, and its second run fetches nothing", () => {
  const { folder, env } = place();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/maestro-hive"));
  const program = block("Use it from code", "js");
  writeFileSync(join(folder, "rows.mjs"), program);
  const run = (file: string): string =>
    execFileSync(process.execPath, [file], { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  expect(run("rows.mjs")).toContain("status: 'completed'");
  const broken = program.replace(
    /^const fetchRows = .*$/m,
    'const fetchRows = () => { throw new Error("again"); };',
  );
  writeFileSync(join(folder, "again.mjs"), broken);
  expect(run("again.mjs")).toContain("status: 'completed'");
});

test("the README's picture of the demo shows its key and every line of its summary", () => {
  const picture = readFileSync(join(import.meta.dirname, "../../docs/images/demo.svg"), "utf8").replaceAll(
    "\u00a0",
    " ",
  );
  const source = readFileSync(join(import.meta.dirname, "../../src/cli/commands/demo.ts"), "utf8");
  const labels = [...source.matchAll(/yield `( {2}[a-z]+(?: [a-z]+)* +)/g)].map(([, label = ""]) => label);
  expect(labels).toHaveLength(7);
  for (const label of labels) expect(picture).toContain(`>${label}`);
  expect(picture).toContain("npx maestro-hive resume demo --state-dir ");
});
