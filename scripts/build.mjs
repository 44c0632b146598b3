// Bundles src/ into dist/ with its types, carries along what is not code (SQL migrations), and builds the dashboard. A
// bundle, because two hundred small modules take longer to load than to run: commands and resumes should start at once.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

rmSync(dist, { recursive: true, force: true });
await bundle("index", "testing/index", "cli/main");
// A thread loads its own copy of everything it uses: in one file, sooner.
await bundle("state/sqlite/writer-thread");
execFileSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], {
  cwd: root,
  stdio: "inherit",
});
cpSync(join(root, "src/state/sqlite/migrations"), join(dist, "state/sqlite/migrations"), { recursive: true });
buildDashboard();

async function bundle(...entries) {
  const built = await rolldown({
    cwd: root,
    platform: "node",
    input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    // Packages stay packages: npm installs them, and most are loaded only when they are needed.
    external: /^[^./]/,
  });
  await built.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Read at each start and by nobody else; lines stay, so that a stack trace still leads somewhere.
    comments: false,
  });
  await built.close();
}

/** Into dist/dashboard/, where `maestro serve` finds it. */
function buildDashboard() {
  const dashboard = join(root, "dashboard");
  const vite = createRequire(join(dashboard, "package.json")).resolve("vite/package.json");
  execFileSync(process.execPath, [join(dirname(vite), "bin", "vite.js"), "build", "--logLevel", "warn"], {
    cwd: dashboard,
    stdio: "inherit",
  });
}
