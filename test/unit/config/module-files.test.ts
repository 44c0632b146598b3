import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { trustPlace } from "../../../src/config/trust-place.ts";
import { NotTrusted } from "../../../src/domain/errors.ts";
import { project, stranger, trusting } from "./project.ts";

/** In a process of its own: here the test runner would compile the file, and prove nothing about Node. */
function loadInNode(cwd: string, before = "") {
  const load = join(import.meta.dirname, "../../../src/config/load.ts");
  const script = `import { loadConfig } from ${JSON.stringify(load)};
    ${before}
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

/** A configuration in several files, some of them below the folder. */
async function several(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await project();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  return cwd;
}

const inParts = {
  "maestro.config.ts": `import { leaseMs } from "./config/lease.ts";\nexport default { leaseMs };\n`,
  "config/lease.ts": `import numbers from "../numbers.json" with { type: "json" };\nexport const leaseMs: number = numbers.lease;\n`,
  "numbers.json": `{ "lease": 2000 }`,
};

test.each(Object.keys(inParts))("trust in a configuration ends when %s changes", async (name) => {
  const cwd = await several(inParts);
  const env = { XDG_CONFIG_HOME: await project() };
  const [{ demands } = { demands: [] }] = await trustPlace(cwd, env);
  expect(demands.slice(1)).toEqual(["It imports config/lease.ts.", "It imports numbers.json."]);
  await loadConfig({ cwd, env });
  await writeFile(join(cwd, name), `${inParts[name as keyof typeof inParts]}\n`);
  await expect(loadConfig({ cwd, env })).rejects.toThrow(NotTrusted);
});

test("a configuration in several files is read by Node itself", async () => {
  const cwd = await several({
    ...inParts,
    "maestro.config.ts": `import attempts from "./max.cjs";\nimport { leaseMs } from "./config/lease.ts";\nexport default { leaseMs, attempts };\n`,
    "max.cjs": "module.exports = require('./deep/max')",
    "deep/max.js": "exports.max = require('a-package')",
    "node_modules/a-package/index.js": "module.exports = require('./four.js')",
    "node_modules/a-package/four.js": "module.exports = 4",
  });
  expect(loadInNode(cwd)).toMatchObject({ status: 0, stdout: "[2000,4]\n" });
});

test("the bytes that run are those that were hashed, although a file changes meanwhile", async () => {
  const cwd = await several(inParts);
  const changed = `export const leaseMs = (await import("node:fs")).writeFileSync(${JSON.stringify(join(cwd, "ran"))}, "") ?? 3000;`;
  // As soon as it was read, the file is another one.
  const before = `import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    import { writeFileSync } from "node:fs";
    const { readFile } = fs;
    fs.readFile = async (path, ...more) => {
      const read = await readFile(path, ...more);
      if (String(path).endsWith("lease.ts")) writeFileSync(path, ${JSON.stringify(changed)});
      return read;
    };
    syncBuiltinESMExports();`;
  expect(loadInNode(cwd, before)).toMatchObject({ status: 0, stdout: "[2000,3]\n" });
});

test.each([
  ["a computed path", "const name = 'other'; export default (await import(`./${name}.ts`)).default;", {}],
  ["an escaped path", String.raw`import other from "\x2e/other.ts"; export default other;`, {}],
  [
    "an import of the package itself",
    'import other from "#other"; export default other;',
    { "package.json": '{"type": "module", "imports": {"#other": "./other.ts"}}' },
  ],
])("a file that trust does not cover is not run: %s", async (_, text, more) => {
  const other = `import { writeFileSync } from "node:fs";\nwriteFileSync(new URL("ran", import.meta.url), "");\nexport default {};\n`;
  const cwd = await several({ "maestro.config.ts": text, "other.ts": other, ...more });
  const { status, stderr } = loadInNode(cwd);
  expect(status).toBe(1);
  expect(stderr).toContain(`it imports ${join(cwd, "other.ts")}, which trust does not cover`);
  expect(existsSync(join(cwd, "ran"))).toBe(false);
});
