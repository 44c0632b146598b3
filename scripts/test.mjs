// `npm test`: installs the system tools that the tests need, then runs lint, types and every test.
// Old syntax on purpose: an old Node must get far enough to report what is missing.
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const startedAt = Date.now();

const systemTools = [
  { command: "strace", package: "strace", why: "crash tests stop and fail system calls with it" },
  {
    command: "pytest-3",
    package: "python3-pytest",
    why: "the readers of test output are proved on its real runs",
  },
  { command: "bwrap", package: "bubblewrap", why: "checks run in a sandbox with it" },
  { command: "python3", package: "python3", why: "pseudo-terminals are made with it", without: "fail" },
  { command: "zsh", package: "zsh", why: "completion is tried at its prompt" },
  { command: "fish", package: "fish", why: "completion is tried in it" },
  {
    command: "pg_ctlcluster",
    package: "postgresql",
    why: "the store on PostgreSQL is tried on a server of the test run",
  },
  { command: "chromium", package: "chromium", why: "the tests of the dashboard look at it with a browser" },
];

const results = mkdtempSync(join(tmpdir(), "maestro-test-"));
try {
  process.exitCode = main();
} finally {
  rmSync(results, { recursive: true, force: true });
}

function main() {
  installSystemTools();
  for (const script of ["build", "lint", "types"]) {
    headline(`npm run ${script}`);
    if (run("npm", ["run", "--silent", script]) !== 0)
      return stop(`npm run ${script} failed; no test was run.`);
  }
  headline("vitest run");
  const report = join(results, "vitest.json");
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const status = run(process.execPath, [vitest, "run", ...reporters, ...process.argv.slice(2)]);
  return conclude(count(report), status);
}

function conclude(counted, status) {
  if (counted === undefined) return stop("vitest ended without a report.");
  const { passed, skipped } = counted;
  let { failed } = counted;
  if (passed + failed === 0) return stop("No test was run.", skipped);
  if (status !== 0 && failed === 0) {
    process.stdout.write("\nvitest reports an error outside of any test; it counts as one failure.\n");
    failed = 1;
  }
  process.stdout.write("\n");
  summary(passed, failed, skipped);
  return failed === 0 ? 0 : 1;
}

function stop(why, skipped = 0) {
  process.stdout.write(`\n${why}\n`);
  summary(0, 0, skipped);
  return 1;
}

/** Always the last line: people and scripts look for it there. */
function summary(passed, failed, skipped) {
  process.stdout.write(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
}

/** A test file that fails to load has no failed test in it, so it counts as one failure. */
function count(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
  const unloaded = report.testResults.filter(
    (result) =>
      result.status === "failed" && !result.assertionResults.some((test) => test.status === "failed"),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function installSystemTools() {
  const missing = systemTools.filter((tool) => !isOnPath(tool.command));
  if (missing.length === 0) return;
  const packages = missing.map((tool) => tool.package);
  const canInstall = process.getuid !== undefined && process.getuid() === 0 && isOnPath("apt-get");
  if (canInstall) {
    headline(`apt-get install ${packages.join(" ")}`);
    run("apt-get", ["update", "-qq"]);
    run("apt-get", ["install", "-y", "-qq", ...packages]);
  }
  for (const tool of missing.filter((tool) => !isOnPath(tool.command))) {
    process.stdout.write(
      `${tool.command} is missing: ${tool.why}. Tests that need it will ${tool.without || "be skipped"}; install the package ${tool.package} to run them.\n`,
    );
  }
}

function isOnPath(command) {
  return (process.env.PATH || "").split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function headline(text) {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`\n== ${text} (after ${seconds} s)\n`);
}

/** Returns the exit code. A command that does not start, or is killed, counts as failed. */
function run(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", env });
  if (error) process.stdout.write(`${command} could not be started: ${error.message}\n`);
  return status === null ? 1 : status;
}
