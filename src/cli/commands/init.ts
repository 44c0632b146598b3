import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, extname, join, relative, resolve } from "node:path";
import { knownProviders } from "../../api/tables.ts";
import { quote } from "../../domain/advice.ts";
import { InputInvalid, TeamInvalid } from "../../domain/errors.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { showPath } from "../../domain/tree-path.ts";
import { exitCodes } from "../exit-code.ts";
import type { GlobalOptions } from "../open.ts";
import { print, printJson, say, sayCommand } from "../output.ts";
import { readList } from "../read-flags.ts";
import { count } from "../terminal/format.ts";

interface InitOptions extends GlobalOptions {
  readonly repo?: string;
  readonly name?: string;
  readonly out?: string;
  readonly phases?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

const nameForm = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export async function init(options: InitOptions): Promise<void> {
  if (options.repo !== undefined) return initRepository(options, options.repo);
  const asks = !options.yes && !options.json && process.stdin.isTTY;
  const answers = asks ? await ask(options) : options;
  const name = answers.name ?? "my-team";
  const phases = readList("--phases", answers.phases) ?? ["requirements", "implementation"];
  const model = answers.model ?? simulatedName;
  const file = await writeTeam(options, answers.out ?? `${name}.yaml`, [name, ...phases], () =>
    teamText(name, model, phases),
  );
  if (options.json) return printJson({ file, name, model, phases });
  print(`${file} is a team of ${count(phases.length, "phase")}.`);
  if (model === simulatedName) say("Its model is simulated: it runs offline and delivers placeholders.");
  sayCommand("Try it", options.stateDir, "run", "Say hello", "--team", file, "--key", "hello");
}

async function initRepository(options: InitOptions, path: string): Promise<void> {
  if (options.phases !== undefined)
    throw new InputInvalid("--phases cannot be combined with --repo.", {
      advice: "Change the phases in the file that it writes.",
    });
  const { describeRepository } = await import("../../api/describe-repository.ts");
  const { noLockfile, repositoryTeam } = await import("../repository-team.ts");
  const { folder, name: found, setups, checks, lacksLockfile } = await describeRepository(path);
  const name = options.name ?? asName(found);
  const { model } = options;
  const file = await writeTeam(options, options.out ?? "team.yaml", [name], (written) =>
    repositoryTeam({
      name,
      model,
      git: relative(dirname(resolve(written)), folder) || ".",
      setups,
      checks,
      lacksLockfile,
    }),
  );
  const said = {
    setups: setups.map(({ run, because }) => ({ run, because })),
    checks: checks.map((check) => ({ name: check.name, run: check.run })),
    lacksLockfile,
  };
  if (options.json) return printJson({ file, name, model: model ?? null, repository: folder, ...said });
  print(`${file} is a team for ${showPath(folder)}.`);
  for (const { run, because } of setups) print(`  setup   ${run.map(quote).join(" ")} (from ${because})`);
  for (const check of checks) print(`  ${check.name.padEnd(7)} ${check.run.map(quote).join(" ")}`);
  if (lacksLockfile) say(noLockfile.join(" "));
  if (checks.length === 0) say("No tests were found: add checks to its contract, or no change is verified.");
  if (model === undefined) say("It names no model: set MAESTRO_MODEL, add --model, or write model: into it.");
  sayCommand("Try it", options.stateDir, "run", "What to change", "--team", file, "--key", "first");
}

const asName = (folder: string): string => {
  const name = folder.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z]+/, "");
  return name.slice(0, 64) || "repository";
};

/** Returns the path of the file. `names`: words that become names of the team. */
async function writeTeam(
  options: InitOptions,
  file: string,
  names: readonly string[],
  textFor: (file: string) => string,
): Promise<string> {
  for (const word of names)
    if (!nameForm.test(word))
      throw new InputInvalid(`"${word}" cannot be a name.`, {
        advice: "A name begins with a letter and has letters, digits, - and _.",
      });
  if (!/\.(?:ya?ml|json)$/.test(file))
    throw new InputInvalid(`${file} is not a YAML or JSON file.`, {
      advice: "Use a name that ends in .yaml or .json.",
    });
  if (existsSync(file) && !options.force)
    throw new InputInvalid(`${file} already exists.`, {
      advice: "Choose another file with --out, or overwrite it with --force.",
    });
  const text = await withSchema(textFor(file), file);
  await proveText(text, extname(file));
  await writeFile(file, text).catch((cause: Error) => {
    throw new InputInvalid(`${file} cannot be written: ${cause.message}.`, {
      cause,
      advice: "Choose another file with --out.",
    });
  });
  return file;
}

/** Points editors to the schema of the team file. */
async function withSchema(yaml: string, file: string): Promise<string> {
  const path = schemaPath(dirname(resolve(file)));
  if (extname(file) !== ".json")
    return path === undefined ? yaml : `# yaml-language-server: $schema=${path}\n${yaml}`;
  const { parse } = await import("yaml");
  const team = { ...(path !== undefined && { $schema: path }), ...(parse(yaml) as object) };
  return `${JSON.stringify(team, null, 2)}\n`;
}

/** Only a path inside the project is right for everyone who clones it. */
function schemaPath(folder: string): string | undefined {
  for (let up = "./", at = folder; ; up = up === "./" ? "../" : `../${up}`, at = dirname(at)) {
    const path = "node_modules/maestro-hive/team.schema.json";
    if (existsSync(join(at, path))) return `${up}${path}`;
    if (existsSync(join(at, ".git")) || dirname(at) === at) return undefined;
  }
}

/** Nothing is written unless it loads: a broken file would block the next try. */
async function proveText(text: string, ending: string): Promise<void> {
  const { loadTeam } = await import("../../index.ts");
  const folder = await mkdtemp(join(tmpdir(), "maestro-init-"));
  const file = join(folder, `team${ending}`);
  try {
    await writeFile(file, text);
    await loadTeam(file);
  } catch (error) {
    if (!TeamInvalid.is(error)) throw error;
    throw new InputInvalid(`These values make no valid team: ${error.message.replaceAll(file, "it")}`, {
      cause: error,
      advice: "Correct --name, --phases or --model; nothing was written.",
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ask(options: InitOptions): Promise<InitOptions> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const question = async (given: string | undefined, text: string, otherwise: string): Promise<string> =>
    given ?? ((await lines.question(`${text} [${otherwise}] `)).trim() || otherwise);
  try {
    const name = await question(options.name, "Name of the team?", "my-team");
    const phases = await question(options.phases, "Its phases, in order?", "requirements,implementation");
    const model = await question(
      options.model,
      "Model (provider/model, or simulated to try it offline)?",
      simulatedName,
    );
    return { ...options, name, phases, model };
  } catch (error) {
    // Ctrl-C and Ctrl-D end the questions.
    if ((error as Error).name !== "AbortError") throw error;
    say("\nNothing was written.");
    process.exit(exitCodes.interrupted);
  } finally {
    lines.close();
  }
}

function teamText(name: string, model: string, phases: readonly string[]): string {
  const persona = (phase: string): string => `${phase}_author`;
  return `# A team for Maestro. Try it: npx maestro-hive run "Say hello" --team <this file>
name: ${JSON.stringify(name)}
# provider/model (${knownProviders.map((provider) => `${provider}/...`).join(", ")}), or ${simulatedName}: offline, placeholders.
model: ${JSON.stringify(model)}
# The budget of a session, over all its resumes.
budget: { tokens: 500000 }
phases:
${phases
  .map(
    (phase) => `  - name: ${JSON.stringify(phase)}
    personas: [${persona(phase)}]`,
  )
  .join("\n")}
personas:
${phases
  .map(
    (phase) => `  ${persona(phase)}:
    instructions: >-
      Do the ${phase} for the brief. Write your result to docs/${phase}.md.
    contract:
      # Files that must exist at the end, and commands that must succeed.
      deliverables:
        - name: ${JSON.stringify(phase)}
          files: ["docs/${phase}.md"]
      checks:
        - name: has-a-title
          run: ["grep", "-q", "^# ", "docs/${phase}.md"]`,
  )
  .join("\n")}
`;
}
