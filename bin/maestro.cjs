#!/usr/bin/env node
// Old syntax on purpose: any Node must be able to read this far and get a clear sentence instead of a parse error.
var major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    "maestro needs Node.js 24 or newer; this is " +
      process.version +
      " (" +
      process.execPath +
      ").\n" +
      "Install a newer one (https://nodejs.org), or inside a project that has maestro-hive: npm install --save-dev node@26, then npx maestro.\n",
  );
  process.exit(2);
}
// The most frequent question of scripts, answered before anything is loaded.
if (process.argv.length === 3 && /^(?:-V|--version)$/.test(process.argv[2])) {
  process.stdout.write(require("../package.json").version + "\n");
  process.exit(0);
}
require("node:module").enableCompileCache();
import("../dist/cli/main.js").then(
  function (cli) {
    return cli.main(process.argv.slice(2));
  },
  function (error) {
    process.stderr.write(
      "maestro could not start: " + error.message + "\nIn a clone of the repository, run: npm run build\n",
    );
    process.exit(1);
  },
);
