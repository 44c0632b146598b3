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

/** Nothing is done, and the branch has the same tree; then a file is made, one removed and one renamed. */
async function expectRoundTrip(repository: Pick<TestRepository, "folder" | "git">): Promise<void> {
  const before = repository.git("rev-parse", "HEAD^{tree}");
  const idle = await runOn(repository.folder, []);
  await json(idle, "branch", "trip", "same");
  expect(repository.git("rev-parse", "same^{tree}")).toBe(before);

  const [first = "", second = ""] = repository
    .git("ls-files", "-z", "--", "*.md", "*.js", "*.ts", "*.json")
    .split("\0")
    .filter((path) => path !== "package.json");
  const busy = await runOn(repository.folder, [
    ["write_file", { path: "maestro/new file.md", content: "# New\r\n" }],
    ["delete_file", { path: first }],
    ["move_file", { from: second, to: `maestro/${second}` }],
  ]);
  await json(busy, "branch", "trip", "changed");
  const changes = repository.git("diff", "--no-renames", "--name-status", "HEAD", "changed").split("\n");
  expect(changes.toSorted()).toEqual(
    [`A\tmaestro/new file.md`, `A\tmaestro/${second}`, `D\t${first}`, `D\t${second}`].toSorted(),
  );
  expect(repository.git("rev-parse", `changed:maestro/${second}`)).toBe(
    repository.git("rev-parse", `HEAD:${second}`),
  );
  expect(repository.git("cat-file", "-s", "changed:maestro/new file.md")).toBe("7");
  expect(repository.git("status", "--porcelain")).toBe("");
}

test.each(Object.keys(dependencies))(
  "%s comes back as it went in, and with exactly its changes",
  async (name) => {
    await expectRoundTrip(repositoryOf(name));
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
    await expectRoundTrip({ folder, git });
  },
);
