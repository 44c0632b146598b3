import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestRepository } from "../../integration/repository/test-repository.ts";

/** Something that was broken in a repository, and what a model tries to mend it with. */
export interface Job {
  readonly name: string;
  /** The published package that the repository is made of. */
  readonly package?: string;
  readonly file: string;
  readonly right: string;
  readonly broken: string;
  /** The first attempt: it does not help. */
  readonly wrong: string;
  readonly check: readonly string[];
  /** At the base. */
  readonly tests: { readonly passed: number; readonly failed: number };
  /** Output of the failed check, which the next prompt must show. */
  readonly said: readonly RegExp[];
}

export const jobs: readonly Job[] = [
  {
    name: "tape",
    package: "minimist",
    file: "index.js",
    right: "if ((/^0x[0-9a-f]+$/i).test(x)) { return true; }",
    broken: "if ((/^0y[0-9a-f]+$/i).test(x)) { return true; }",
    wrong: "if ((/^0z[0-9a-f]+$/i).test(x)) { return true; }",
    check: ["npm", "test"],
    tests: { passed: 151, failed: 2 },
    said: [/num/, /expected/i, /0xdeadbeef/],
  },
  {
    name: "vitest",
    package: "ms",
    file: "index.js",
    right: "var d = h * 24;",
    broken: "var d = h * 23;",
    wrong: "var d = h * 25;",
    check: ["npm", "test"],
    tests: { passed: 4, failed: 1 },
    said: [/reads days/, /172800000/, /ms\.test\.js/],
  },
  {
    name: "node:test",
    package: "@fastify/error",
    file: "index.js",
    right: "code = code.toUpperCase()",
    broken: "code = code.toLowerCase()",
    wrong: "code = code.toLowerCase().trim()",
    check: ["node", "--test"],
    tests: { passed: 17, failed: 12 },
    said: [/index\.test\.js/, /CODE/],
  },
  {
    name: "pytest",
    file: "roman.py",
    right: '(9, "IX")',
    broken: '(9, "IIX")',
    wrong: '(9, "VIIII")',
    check: ["python3", "-m", "pytest", "-q"],
    tests: { passed: 6, failed: 1 },
    said: [/test_roman/, /IX/],
  },
];

const here = import.meta.dirname;

/** Downloads the packages once, into a folder that `remove` takes away. */
export function downloadPackages(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "maestro-packages-"));
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(folder, name));
  execFileSync("npm", ["ci", "--ignore-scripts", "--silent"], { cwd: folder, stdio: "pipe" });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A repository with the broken package as its only commit. */
export function repositoryOf(job: Job, packages: string): TestRepository {
  const repository = new TestRepository();
  if (job.package !== undefined)
    cpSync(join(packages, "node_modules", job.package), repository.folder, { recursive: true });
  const own = { tape: "minimist", vitest: "ms", pytest: "roman" }[job.name];
  if (own !== undefined) cpSync(join(here, "repositories", own), repository.folder, { recursive: true });
  const file = join(repository.folder, job.file);
  writeFileSync(file, readFileSync(file, "utf8").replace(job.right, job.broken));
  repository.commit("broken");
  return repository;
}

export const teamOf = ({ check }: Job): string => `
name: fixers
phases: [{ name: fix, gate: 1, review: true, personas: [developer] }]
personas:
  developer:
    instructions: Make the failing tests pass.
    contract: { checks: [{ name: test, run: ${JSON.stringify(check)} }] }
`;

export function scriptOf({ file, right, broken, wrong }: Job): string {
  const edit = (find: string, replace: string) => ({
    calls: [{ tool: "edit_file", input: { path: file, edits: [{ find, replace }] } }],
  });
  const read = { calls: [{ tool: "read_file", input: { path: file, from: 1, lines: 20 } }] };
  const attempts = [
    [read, edit(broken, wrong)],
    [read, edit(wrong, right)],
  ];
  return JSON.stringify({ latencyMs: 20, personas: { developer: attempts } });
}
