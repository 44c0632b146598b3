// Bundles src/ into dist/ with its types, copies the SQL schemas, and builds the dashboard. A bundle, because two hundred
// small modules take longer to load than to run, and commands and resumes should start at once.
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
// A thread or a process loads its own copy of its modules: one file loads faster.
await bundle("store/sqlite/writer-thread");
await bundle("run/isolation/child");
await bundle("run/isolation/watch");
await bundle("workspace/network/relay");
execFileSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], {
  cwd: root,
  stdio: "inherit",
});
for (const store of ["sqlite", "postgres"])
  cpSync(join(root, `src/store/${store}/schema.sql`), join(dist, `store/${store}/schema.sql`));
buildDashboard();

async function bundle(...entries) {
  const built = await rolldown({
    cwd: root,
    platform: "node",
    plugins: [onlyAscii()],
    input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    // npm installs the packages, and most are loaded only when needed.
    external: /^[^./]/,
  });
  await built.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Comments only slow down each start; lines stay, so that stack traces are useful.
    comments: false,
    // Modules that start together become one file, so that short commands load no more than they need.
    codeSplitting: {
      groups: [
        { ...oneFile("base", "cli/main.ts", "index.ts"), priority: 5 },
        { ...oneFile("configuration", "config/load.ts", "index.ts"), priority: 4 },
        { ...oneFile("looking", "api/open-readonly.ts", "index.ts"), priority: 3 },
        // The commands that look also say why a session stopped.
        { ...oneFile("explanation", "journal/explain-stop.ts", "index.ts"), priority: 2 },
        { ...oneFile("library", "index.ts"), priority: 1 },
      ],
    },
  });
  await built.close();
}

/** One character beyond Latin-1 makes V8 store the whole file with two bytes per character. */
function onlyAscii() {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return {
    name: "only-ascii",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle).filter(({ type }) => type === "chunk")) {
        // In these places an escape would not stand for the character: String.raw keeps it as text, a backslash escapes its own.
        if (/String\.raw`[^`]*[^\0-\x7f]|(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.test(chunk.code))
          throw new Error("String.raw or a backslash with more than ASCII");
        chunk.code = chunk.code.replaceAll(/[^\0-\x7f]/g, escaped);
      }
    },
  };
}

/**
 * By default the bundler makes one file for every few modules that two commands share, and a program that uses the library
 * loads twenty of them in 12 ms. Modules that each of the given modules loads become one file.
 */
function oneFile(name, ...modules) {
  const ids = modules.map((module) => join(root, "src", module));
  let loaded;
  return {
    name(id, graph) {
      loaded ??= ids.map((module) => loadedWith(module, graph));
      // An entry exports only its public names, so it stays a separate file.
      if (graph.getModuleInfo(id)?.isEntry) return null;
      return loaded.every((known) => known.has(id)) ? name : null;
    },
    debugName: name,
  };
}

/** The module and everything it imports. */
function loadedWith(id, graph, known = new Set()) {
  if (known.has(id)) return known;
  known.add(id);
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) loadedWith(imported, graph, known);
  return known;
}

/** Builds into dist/dashboard/, where `maestro serve` finds it. */
function buildDashboard() {
  const dashboard = join(root, "dashboard");
  const vite = createRequire(join(dashboard, "package.json")).resolve("vite/package.json");
  execFileSync(process.execPath, [join(dirname(vite), "bin", "vite.js"), "build", "--logLevel", "warn"], {
    cwd: dashboard,
    stdio: "inherit",
  });
}
