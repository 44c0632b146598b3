import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { defaultProtect, runnerSettings } from "../../../src/team/definition/default-protect.ts";
import { Protection, type ProtectionRules } from "../../../src/workspace/protection.ts";
import { Workspace } from "../../../src/workspace/workspace.ts";
import { MemoryBlobs } from "./memory-blobs.ts";

interface Case {
  readonly given: Readonly<Record<string, string>>;
  /** The files that the persona sees; all of them when it is missing. */
  readonly seen?: Readonly<Record<string, string>>;
  readonly rules?: Partial<ProtectionRules>;
  readonly change: (workspace: Workspace) => unknown;
}

/** The files after forbidden changes are put back, and whether a model is refused the same change. */
async function changed({ given, seen = given, rules, change }: Case) {
  const blobs = new MemoryBlobs();
  const found = blobs.tree(seen);
  const all = {
    delivered: [],
    delivers: [],
    protect: defaultProtect,
    settings: [],
    inputs: [],
    mayMakeInputs: false,
    mayChange: [],
    whyHidden: () => undefined,
    ...rules,
  };
  const protection = new Protection(blobs.tree(given), found, all, blobs);
  const workspace = new Workspace(blobs, found);
  await change(workspace);
  const refused = await protection.refuse(workspace, found).then(
    () => false,
    (error: unknown) => InputInvalid.is(error),
  );
  const putBack = (await protection.putBack(workspace, found)).map(({ path }) => path);
  await workspace.save();
  expect(refused).toBe(putBack.length > 0);
  return { putBack, files: blobs.texts(workspace.tree) };
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const scripts = { test: "node --test" };
const mark = "\uFEFF";

describe("a protected member of package.json", () => {
  test("is put back when the file begins with a byte order mark, which stays", async () => {
    const given = { "package.json": mark + json({ name: "a", scripts }) };
    const { putBack, files } = await changed({
      given,
      change: (workspace) =>
        workspace.write("package.json", mark + json({ name: "b", scripts: { test: "true" } })),
    });
    expect(putBack).toEqual(["package.json#scripts"]);
    expect(files).toEqual({ "package.json": mark + json({ name: "b", scripts }) });
  });

  test("is put back when the change adds or removes a byte order mark", async () => {
    for (const [before, after] of [
      [mark, ""],
      ["", mark],
    ] as const) {
      const { putBack } = await changed({
        given: { "package.json": before + json({ scripts }) },
        change: (workspace) => workspace.write("package.json", after + json({ scripts: { test: "true" } })),
      });
      expect(putBack).toEqual(["package.json#scripts"]);
    }
  });

  test.each([["{ // a comment\n}"], ["[]"], [""]])(
    "protects the whole file when it cannot be read: %j",
    async (text) => {
      const given = { "package.json": text };
      const { putBack, files } = await changed({
        given,
        change: (workspace) => workspace.write("package.json", json({ scripts: { test: "true" } })),
      });
      expect(putBack).toEqual(["package.json"]);
      expect(files).toEqual(given);
    },
  );

  test("does not keep a persona with mayChange from mending a file that cannot be read", async () => {
    const { putBack } = await changed({
      given: { "package.json": "{" },
      rules: { mayChange: ["package.json"] },
      change: (workspace) => workspace.write("package.json", json({ scripts })),
    });
    expect(putBack).toEqual([]);
  });

  test("may be changed by a persona whose mayChange names the whole file, and not where it names another member", async () => {
    const given = { "package.json": json({ scripts }) };
    const change = (workspace: Workspace) =>
      workspace.write("package.json", json({ scripts: { test: "true" } }));
    for (const [mayChange, putBack] of [
      [["package.json"], []],
      [["**"], []],
      [["package.json#scripts"], []],
      [["package.json#jest"], ["package.json#scripts"]],
    ] as const)
      expect(await changed({ given, rules: { mayChange: [...mayChange] }, change })).toMatchObject({
        putBack,
      });
  });

  test.each(["scripts", "jest", "mocha", "vitest", "ava", "tap", "c8", "nyc"])(
    "is removed when the file had none: %s",
    async (member) => {
      const { putBack, files } = await changed({
        given: { "package.json": json({ name: "a" }) },
        change: (workspace) =>
          workspace.write("package.json", json({ name: "b", [member]: { test: "true" } })),
      });
      expect(putBack).toEqual([`package.json#${member}`]);
      expect(files).toEqual({ "package.json": json({ name: "b" }) });
    },
  );

  test("is removed when a persona that does not see the file writes it", async () => {
    const { putBack } = await changed({
      given: { "package.json": json({ scripts }) },
      seen: {},
      change: (workspace) => workspace.write("package.json", json({ name: "a", scripts: { test: "true" } })),
    });
    expect(putBack).toEqual(["package.json#scripts"]);
  });

  test("leaves a new package.json and the other members alone", async () => {
    const { putBack } = await changed({
      given: { "package.json": json({ name: "a" }), "lib/package.json": json({ name: "lib" }) },
      change: async (workspace) => {
        await workspace.write("package.json", json({ name: "b", dependencies: { x: "1.0.0" } }));
        await workspace.write("new/package.json", json({ scripts }));
        await workspace.remove("lib/package.json");
      },
    });
    expect(putBack).toEqual([]);
  });
});

test.each([
  "vitest.config.ts",
  "packages/a/vitest.config.mts",
  "vitest.workspace.json",
  "jest.config.js",
  ".mocharc.yml",
  ".taprc",
  "ava.config.mjs",
  "bunfig.toml",
  "karma.conf.js",
  "playwright.config.ts",
  "cypress.config.ts",
  "pytest.ini",
  ".pytest.ini",
  "pytest.toml",
  "phpunit.xml.dist",
  ".rspec",
  "conftest.py",
  "app/conftest.py",
  "tox.ini",
  "noxfile.py",
  "Makefile",
  ".npmrc",
  "src/__snapshots__/page.html",
  "src/page.snap",
  "src/SumTests.cs",
  "src/SumTest.java",
  "src/SumTest.kt",
  "app/src/test/resources/expected.txt",
])("a file that decides how the work is judged is protected by default: %s", async (path) => {
  const { putBack, files } = await changed({
    given: { [path]: "before" },
    change: (workspace) => workspace.write(path, "after"),
  });
  expect(putBack).toEqual([path]);
  expect(files).toEqual({ [path]: "before" });
});

test.each(["vite.config.ts", "src/contest.py", "src/Latest.java", "docs/Makefile.md"])(
  "a file that does not judge the work is not protected: %s",
  async (path) => {
    const { putBack } = await changed({
      given: { [path]: "before" },
      change: (workspace) => workspace.write(path, "after"),
    });
    expect(putBack).toEqual([]);
  },
);

describe("settings that decide what a check runs", () => {
  const given = { "package.json": json({ scripts }) };
  const writes = (path: string) => (workspace: Workspace) =>
    workspace.write(path, "script-shell=/bin/true\n");

  test.each([".npmrc", "jest.config.js", "packages/app/vitest.config.ts", "conftest.py", "GNUmakefile"])(
    "a new %s is put back in a repository",
    async (path) => {
      const { putBack, files } = await changed({
        given,
        rules: { settings: runnerSettings },
        change: writes(path),
      });
      expect({ putBack, files }).toEqual({ putBack: [path], files: given });
    },
  );

  test("a new one stays where mayChange or a deliverable names it", async () => {
    for (const more of [{ mayChange: ["*.config.js"] }, { delivers: [["jest.config.js"]] }]) {
      const rules = { settings: runnerSettings, ...more };
      expect(await changed({ given, rules, change: writes("jest.config.js") })).toMatchObject({
        putBack: [],
      });
    }
  });

  test("a new one stays in a session without a repository", async () => {
    expect(await changed({ given, change: writes(".npmrc") })).toMatchObject({ putBack: [] });
  });
});

describe("the files that decide what a setup installs", () => {
  const manifest = { name: "a", version: "1.0.0", dependencies: { left: "1.0.0" } };
  const given = { "package.json": json(manifest), "lock.txt": "one\n" };
  const rules = { protect: [], inputs: [["lock.txt", "constraints.txt", "**/package.json"]] };
  const more = { ...manifest, version: "2.0.0", dependencies: { left: "1.0.0", right: "1.0.0" } };
  const change = async (workspace: Workspace) => {
    await workspace.write("lock.txt", "two\n");
    await workspace.write("constraints.txt", "left==1\n");
    await workspace.write("package.json", json(more));
    await workspace.write("app/package.json", json({ name: "app", devDependencies: { right: "1.0.0" } }));
  };

  test("are put back, and of a package.json the members that name packages", async () => {
    expect(await changed({ given, rules, change })).toEqual({
      putBack: [
        "app/package.json#devDependencies",
        "constraints.txt",
        "lock.txt",
        "package.json#dependencies",
      ],
      files: {
        ...given,
        "package.json": json({ ...manifest, version: "2.0.0" }),
        "app/package.json": json({ name: "app" }),
      },
    });
  });

  test("may be changed by a persona whose mayChange names them", async () => {
    const mayChange = ["lock.txt", "constraints.txt", "**/package.json"];
    expect(await changed({ given, rules: { ...rules, mayChange }, change })).toMatchObject({ putBack: [] });
    const members = ["lock.txt", "constraints.txt", "**/package.json#dependencies", "**#devDependencies"];
    expect(await changed({ given, rules: { ...rules, mayChange: members }, change })).toMatchObject({
      putBack: [],
    });
  });

  test("may be made in a session without a repository", async () => {
    const made = await changed({ given: {}, rules: { ...rules, mayMakeInputs: true }, change });
    expect(made.putBack).toEqual([]);
  });
});
