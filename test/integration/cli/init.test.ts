import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { TestRepository } from "../repository/test-repository.ts";

const main = pathToFileURL(resolve("src/cli/main.ts")).href;
const script = `import { main } from "${main}"; process.exitCode = await main(process.argv.slice(1));`;

/** Standard output and standard error as one text. */
const init = (cwd: string, ...args: readonly string[]): string =>
  execFileSync(
    "sh",
    [
      "-c",
      'exec "$@" 2>&1',
      "sh",
      process.execPath,
      "--input-type=module",
      "-e",
      script,
      "--",
      "init",
      ...args,
    ],
    { cwd, encoding: "utf8" },
  );

const withPackage = (manifest: object): TestRepository => {
  const made = new TestRepository().write("package.json", JSON.stringify(manifest));
  made.commit();
  return made;
};

const vitest = { scripts: { test: "vitest" }, devDependencies: { vitest: "4.0.0" } };

test("init --repo says on the screen and in the file that dependencies without a lockfile are not installed", () => {
  const { folder } = withPackage(vitest);
  const why =
    /no committed lockfile: they are not installed\.\s(?:# )?Commit a lockfile and run init again, or write setup: into the file\./;
  expect(init(folder, "--repo", ".")).toMatch(why);
  const written = readFileSync(join(folder, "team.yaml"), "utf8");
  expect(written).toMatch(why);
  expect(written).not.toMatch(/^setup:/m);
});

test("a lockfile that is not committed is no lockfile, and a committed one is", () => {
  const made = withPackage(vitest).write("package-lock.json", "{}");
  const described = () =>
    JSON.parse(init(made.folder, "--repo", ".", "--json", "--force")) as { readonly lacksLockfile: boolean };
  expect(described()).toMatchObject({ setups: [], lacksLockfile: true });
  made.commit("lock");
  expect(described()).toMatchObject({ setups: [{ run: ["npm", "ci"] }], lacksLockfile: false });
});

test("a package without dependencies needs no lockfile", () => {
  const { folder } = withPackage({ scripts: { test: "node --test" } });
  expect(init(folder, "--repo", ".")).not.toContain("lockfile");
});

const pointer = (text: string): string | undefined => /\$schema(?:=|":\s*")([^"\n]+)/.exec(text)?.[1];

test.each(["team.yaml", "team.json"])(
  "%s points to the schema only if the package is installed in the project",
  (file) => {
    const made = withPackage({ name: "app" }).write("teams/.keep", "");
    const written = (folder: string) => {
      init(folder, "--yes", "--force", "--model", "simulated", "--out", file);
      return readFileSync(join(folder, file), "utf8");
    };
    const without = written(made.folder);
    expect(pointer(without)).toBeUndefined();
    expect(without).not.toMatch(/file:|^\s*\n/);
    made.write("node_modules/maestro-hive/team.schema.json", "{}");
    expect(pointer(written(made.folder))).toBe("./node_modules/maestro-hive/team.schema.json");
    expect(pointer(written(join(made.folder, "teams")))).toBe(
      "../node_modules/maestro-hive/team.schema.json",
    );
  },
);
