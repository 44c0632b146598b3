// Writes teams/demo/script.yaml, the answers of the simulated model in `maestro demo`, from teams/demo/project.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../teams/demo");
const content = (path) => readFileSync(join(folder, "project", path), "utf8");
const write = (path, text = content(path)) => ({ tool: "write_file", input: { path, content: text } });
const turn = (text, ...calls) => ({ text, calls });
const submit = (summary, more = {}) => ({ calls: [{ tool: "submit", input: { summary, ...more } }] });

const script = {
  seed: 7,
  latencyMs: 350,
  personas: {
    requirement_analyst: [
      [
        turn("Three requirements are enough for a first version.", write("docs/requirements.md")),
        submit("three requirements, each with a way to test it"),
      ],
    ],
    solution_architect: [
      [
        // The connection breaks once; only this call is repeated.
        {
          ...turn("Codes from content: nothing to count, nothing to lock.", write("docs/design.md")),
          fault: { kind: "reset" },
        },
        submit("codes from content, one module each for codes, store and server", {
          decisions: [
            {
              decision: "Codes are made from the content of the URL.",
              reason: "The same URL gets the same code, without a counter or a lock.",
              rejected: ["counters: they tell how many there are", "random codes: one URL would get many"],
            },
          ],
        }),
      ],
    ],
    backend_developer: [
      [
        turn("First the codes.", write("src/code.mjs")),
        turn("Now the store that remembers them.", write("src/store.mjs")),
        // Slow, so that the kill hits it.
        {
          ...turn(
            "And the server in front of it.",
            write("src/server.mjs", wrongImport(content("src/server.mjs"))),
          ),
          latencyMs: 1_500,
        },
        submit("codes, store and server"),
      ],
    ],
    technical_writer: [
      [
        turn("Two commands and how to test it.", write("README.md")),
        submit("how to run it and how to test it"),
      ],
    ],
    qa_engineer: [
      [
        turn("One test for each requirement.", write("test/shortener.test.mjs")),
        { calls: [{ tool: "run_check", input: { name: "tests-pass" } }] },
        submit("a test for each requirement; all pass"),
      ],
    ],
    devops_engineer: [
      [
        turn("A package that npm can start and test.", write("package.json")),
        submit("package.json with npm test"),
      ],
    ],
  },
};

/** A wrong file name, so that the check fails and healing corrects the import. */
function wrongImport(text) {
  const wrong = text.replace("./store.mjs", "./store.js");
  if (wrong === text) throw new Error("The server does not import the store.");
  return wrong;
}

const head = `# Answers of the simulated model in \`maestro demo\`. Made by scripts/demo-script.mjs from teams/demo/project.\n`;
const text = head + stringify(script, { lineWidth: 0 });
const file = join(folder, "script.yaml");
if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") === text) process.exit(0);
  process.stderr.write("teams/demo/script.yaml is out of date: node scripts/demo-script.mjs\n");
  process.exit(1);
}
writeFileSync(file, text);
