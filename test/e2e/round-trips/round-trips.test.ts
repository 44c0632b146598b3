import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { TestRepository } from "../../integration/repository/test-repository.ts";
import { json, maestro, type Place, place } from "../support/packed.ts";

const here = import.meta.dirname;
const root = join(here, "../../..");
const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

let downloaded: string;
beforeAll(() => {
  downloaded = mkdtempSync(join(tmpdir(), "maestro-packages-"));
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(downloaded, name));
  execFileSync("npm", ["ci", "--ignore-scripts", "--silent"], { cwd: downloaded, stdio: "pipe" });
});
afterAll(() => rmSync(downloaded, { recursive: true, force: true }));

function repositoryOf(name: string): TestRepository {
  const repository = new TestRepository();
  cpSync(join(downloaded, "node_modules", name), repository.folder, {
    recursive: true,
    verbatimSymlinks: true,
  });
  repository.commit(name);
  return repository;
}

type Turn = readonly [tool: string, input: object];

/** Someone with the repository, whose simulated model makes these calls. */
async function runOn(folder: string, turns: readonly Turn[]): Promise<Place> {
  const at = place({ MAESTRO_SIMULATED_SCRIPT: "script.json" });
  writeFileSync(
    join(at.folder, "team.yaml"),
    'name: worker\nphases: [{ name: work, personas: [dev] }]\npersonas: { dev: { instructions: "Work.", mayChange: ["**"] } }\n',
  );
  const calls = [...turns, ["submit", { summary: "done" }] as const].map(([tool, input]) => ({
    calls: [{ tool, input }],
  }));
  writeFileSync(join(at.folder, "script.json"), JSON.stringify({ personas: { dev: [calls] } }));
  const run = [
    "run",
    "Work",
    "--repo",
    folder,
    "--team",
    "team.yaml",
    "--model",
    "simulated",
    "--key",
    "trip",
  ];
  const { code, stderr } = await maestro(at, ...run);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return at;
}

/** The delivered trees without a change, and with a file created, one removed and one renamed; and the expected ones. */
async function roundTrip(repository: Pick<TestRepository, "folder" | "git">) {
  const { folder, git } = { folder: repository.folder, git: repository.git.bind(repository) };
  const idle = await runOn(folder, []);
  await json(idle, "branch", "trip", "same");

  const [first = "", second = ""] = git("ls-files", "-z", "--", "*.md", "*.js", "*.ts", "*.json")
    .split("\0")
    .filter((path) => path !== "package.json");
  const busy = await runOn(folder, [
    ["write_file", { path: "maestro/new file.md", content: "# New\r\n" }],
    ["delete_file", { path: first }],
    ["move_file", { from: second, to: `maestro/${second}` }],
  ]);
  await json(busy, "branch", "trip", "changed");
  const found = {
    tree: git("rev-parse", "same^{tree}"),
    changes: git("diff", "--no-renames", "--name-status", "HEAD", "changed").split("\n").toSorted(),
    moved: git("rev-parse", `changed:maestro/${second}`),
    bytes: git("cat-file", "-s", "changed:maestro/new file.md"),
    dirty: git("status", "--porcelain"),
  };
  const expected: typeof found = {
    tree: git("rev-parse", "HEAD^{tree}"),
    changes: [`A\tmaestro/new file.md`, `A\tmaestro/${second}`, `D\t${first}`, `D\t${second}`].toSorted(),
    moved: git("rev-parse", `HEAD:${second}`),
    bytes: "7",
    dirty: "",
  };
  return { found, expected };
}

test.each(Object.keys(dependencies))(
  "%s comes back as it went in, and with exactly its changes",
  async (name) => {
    const { found, expected } = await roundTrip(repositoryOf(name));
    expect(found).toEqual(expected);
  },
);

test.skipIf(!existsSync(join(root, ".git")))(
  "this repository comes back as it went in, and with exactly its changes",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "maestro-itself-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    execFileSync("git", ["clone", "--quiet", root, folder], { stdio: "pipe" });
    const git = (...args: readonly string[]): string =>
      execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trimEnd();
    const { found, expected } = await roundTrip({ folder, git });
    expect(found).toEqual(expected);
  },
);
