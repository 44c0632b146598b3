import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder, place, read } from "./support/packed.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

/** What is between the fences after a heading, in order. */
function block(heading: string, language: string): string {
  const section = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  return new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\`\n`).exec(section)?.[1] ?? "";
}

test("the README's team has twenty lines, and its commands run it to the end with another model", () => {
  const { folder, env } = place({ MAESTRO_MODEL: "simulated" });
  const team = block("A team in twenty lines", "yaml");
  expect(team.split("\n").filter((line) => !line.startsWith("#"))).toHaveLength(20);
  writeFileSync(join(folder, "team.yaml"), team);
  const entry = join(packageFolder, "bin/maestro.cjs");
  // Each line with how it ended; npx is left out, because nothing is installed here.
  const script = block("A team in twenty lines", "sh").replaceAll(/^npx.*$/gm, '$&\necho "ended with $?"');
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
