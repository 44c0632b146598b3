import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputInvalid, TeamInvalid } from "../../domain/errors.ts";
import { exitCodes } from "../exit-code.ts";
import type { GlobalOptions } from "../open.ts";
import { pasteable, print, printJson, quote, say } from "../output.ts";
import { readList } from "../read-flags.ts";
import { count } from "../terminal/words.ts";

interface InitOptions extends GlobalOptions {
  readonly name?: string;
  readonly out?: string;
  readonly phases?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

const nameForm = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** A team file that runs as it is, and says in comments what to change. */
export async function init(options: InitOptions): Promise<void> {
  const asks = !options.yes && !options.json && process.stdin.isTTY;
  const answers = asks ? await ask(options) : options;
  const name = answers.name ?? "my-team";
  const phases = readList("--phases", answers.phases) ?? ["requirements", "implementation"];
  for (const word of [name, ...phases])
    if (!nameForm.test(word))
      throw new InputInvalid(`"${word}" cannot be a name.`, {
        advice: "A name begins with a letter and has letters, digits, - and _.",
      });
  const model = answers.model ?? "simulated";
  const file = answers.out ?? `${name}.yaml`;
  if (!/\.ya?ml$/.test(file))
    throw new InputInvalid(`${file} is not a YAML file.`, { advice: "Let the name end in .yaml." });
  if (existsSync(file) && !options.force)
    throw new InputInvalid(`${file} is there already.`, { advice: "Choose another with --out, or --force." });
  const text = teamText(name, model, phases);
  await proveText(text);
  await writeFile(file, text).catch((cause: Error) => {
    throw new InputInvalid(`${file} cannot be written: ${cause.message}.`, {
      cause,
      advice: "Choose another place with --out.",
    });
  });
  if (options.json) return printJson({ file, name, model, phases });
  print(`${file} is a team of ${count(phases.length, "phase")}.`);
  if (model === "simulated") say("Its model is simulated: it runs offline and delivers placeholders.");
  say(pasteable(`Try it: maestro run "Say hello" --team ${quote(file)} --key hello`, options.stateDir));
}

/** A file that does not run is not written: it would be in the way of the next try. */
async function proveText(text: string): Promise<void> {
  const { loadTeam } = await import("../../index.ts");
  const folder = await mkdtemp(join(tmpdir(), "maestro-init-"));
  const file = join(folder, "team.yaml");
  try {
    await writeFile(file, text);
    await loadTeam(file);
  } catch (error) {
    if (!TeamInvalid.is(error)) throw error;
    throw new InputInvalid(`No team can be made of that: ${error.message.replaceAll(file, "it")}`, {
      cause: error,
      advice: "Mend --name, --phases or --model; nothing was written.",
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
      "simulated",
    );
    return { ...options, name, phases, model };
  } catch (error) {
    // Ctrl-C and Ctrl-D are answers.
    if ((error as Error).name !== "AbortError") throw error;
    say("\nNothing was written.");
    process.exit(exitCodes.interrupted);
  } finally {
    lines.close();
  }
}

function teamText(name: string, model: string, phases: readonly string[]): string {
  const persona = (phase: string): string => `${phase}_author`;
  return `# A team for Maestro. Try it: maestro run "Say hello" --team <this file>
name: ${JSON.stringify(name)}
# provider/model (anthropic/..., openai/..., google/..., openai-compatible/...), or simulated: offline, placeholders.
model: ${JSON.stringify(model)}
# What a session may use at most, over all its resumes.
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
      Do the ${phase} for the brief. Write what you come to into docs/${phase}.md.
    contract:
      # What must be there in the end, and commands that must succeed.
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
