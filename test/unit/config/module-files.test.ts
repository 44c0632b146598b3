import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project, stranger, trusting } from "./project.ts";

/** In a process of its own: here the test runner would compile the file, and prove nothing about Node. */
function loadInNode(cwd: string) {
  const load = join(import.meta.dirname, "../../../src/config/load.ts");
  const script = `import { loadConfig } from ${JSON.stringify(load)};
    const { config } = await loadConfig({ cwd: ${JSON.stringify(cwd)}, env: ${JSON.stringify(trusting)} });
    console.log(JSON.stringify([config.leaseMs, config.attempts.max]));`;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
}

test.each([
  [
    "maestro.config.ts",
    "const leaseMs: number = 2000;\nexport default { leaseMs, attempts: { max: 4 } } as const;\n",
  ],
  ["maestro.config.js", "export default { leaseMs: 2000, attempts: { max: 4 } };\n"],
  ["maestro.config.js", "module.exports = { leaseMs: 2000, attempts: { max: 4 } };\n"],
  ["maestro.config.mjs", "export default await Promise.resolve({ leaseMs: 2000, attempts: { max: 4 } });\n"],
])("%s is read by Node itself: %s", async (name, text) => {
  const { status, stdout, stderr } = loadInNode(await project({ [name]: text }));
  expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: "[2000,4]\n" });
});

test("loading the configuration imports no schema library and no yaml when there is no file", async () => {
  const cwd = await project();
  const load = join(import.meta.dirname, "../../../src/config/load.ts");
  const script = `import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ resolve(specifier, context, next) { seen.push(specifier); return next(specifier, context); } });
    const { loadConfig } = await import(${JSON.stringify(load)});
    await loadConfig({ cwd: ${JSON.stringify(cwd)}, env: ${JSON.stringify(stranger)} });
    console.log(JSON.stringify(seen.filter((specifier) => !/^(?:node:|[./]|file:)/.test(specifier))));`;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 0, stdout: "[]\n" });
});
