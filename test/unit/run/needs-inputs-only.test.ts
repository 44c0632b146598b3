import { expect, test } from "vitest";
import { sha256 } from "../../../src/domain/canonical.ts";
import type { TreeFile } from "../../../src/domain/tree.ts";
import { needsInputsOnly } from "../../../src/run/setup/needs-inputs-only.ts";

const plain = {
  "package.json": '{"name": "a", "scripts": {"test": "node --test"}, "dependencies": {"b": "1.0.0"}}',
  "package-lock.json":
    '{"packages": {"": {}, "node_modules/b": {"resolved": "https://registry.example/b.tgz"}}}',
};

function needs(files: Readonly<Record<string, string>>, run: readonly string[] = ["npm", "ci"]) {
  const inputs = new Map(
    Object.entries(files).map(([path, text]): [string, TreeFile] => [
      path,
      { sha256: sha256(text), bytes: text.length, mode: "file" },
    ]),
  );
  const texts = new Map(Object.values(files).map((text) => [sha256(text), Buffer.from(text)]));
  return needsInputsOnly(run, inputs, inputs, { get: async (hash) => texts.get(hash) ?? Buffer.alloc(0) });
}

test("npm ci of a plain package reads its manifest, its lockfile and plain settings alone", async () => {
  expect(await needs(plain)).toBe(true);
  const settings = "# of ours\n@corp:registry=https://npm.corp.example/\nfund = false\n";
  expect(await needs({ ...plain, ".npmrc": settings })).toBe(true);
});

test.each([
  ["another command", plain, ["npm", "install"]],
  ["no lockfile", { "package.json": "{}" }, undefined],
  ["a script of its own", { ...plain, "package.json": '{"scripts": {"prepare": "node x.js"}}' }, undefined],
  ["a manifest that is not JSON", { ...plain, "package.json": "{" }, undefined],
  [
    "a package in a folder",
    { ...plain, "package-lock.json": '{"packages": {"node_modules/b": {"link": true}}}' },
    undefined,
  ],
  ["a package in a file", { ...plain, "package.json": '{"dependencies": {"b": "file:b.tgz"}}' }, undefined],
  ["a setting that names a file", { ...plain, ".npmrc": "cafile=./ca.pem" }, undefined],
  ["a setting that runs a file", { ...plain, ".npmrc": "node-options=--require=./x.js" }, undefined],
  ["a native addon", { ...plain, "binding.gyp": "{}" }, undefined],
])("it reads more files with %s", async (_, files, run) => {
  expect(await needs(files, run)).toBe(false);
});
