#!/usr/bin/env node
// ES5 only: an old Node must parse this file to print the message below instead of a syntax error.
var major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    "maestro needs Node.js 24 or newer; this is " +
      process.version +
      " (" +
      process.execPath +
      ").\n" +
      "Install a newer version (https://nodejs.org). Or, in a project that has maestro-hive installed: npm install --save-dev node@26 && npx maestro-hive\n",
  );
  process.exit(2);
}
// Scripts ask for the version most often: answer before loading anything.
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
