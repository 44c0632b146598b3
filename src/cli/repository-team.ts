import type { RepositoryDescription } from "../api/describe-repository.ts";
import { knownProviders, namedTools } from "../api/tables.ts";

interface RepositoryTeam extends Pick<RepositoryDescription, "name" | "setups" | "checks" | "lacksLockfile"> {
  readonly model: string | undefined;
  /** Relative to the file. */
  readonly git: string;
}

/** On the screen and in the file. */
export const noLockfile = [
  "package.json names dependencies, and the repository has no committed lockfile: they are not installed.",
  "Commit a lockfile and run init again, or write setup: into the file.",
] as const;

/** The text of a team file for a repository: one developer, held to what the repository's own files test. */
export function repositoryTeam({ name, model, git, setups, checks, lacksLockfile }: RepositoryTeam): string {
  const providers = knownProviders.map((provider) => `${provider}/...`).join(", ");
  return `# A team for this repository. Try it: npx maestro-hive run "What to change" --team <this file>
name: ${flow(name)}
# provider/model: ${providers}
${model === undefined ? "# model: anthropic/claude-sonnet-4-5" : `model: ${flow(model)}`}
# The budget of a session, over all its resumes.
budget: { tokens: 2000000 }
# The tracked files, without secrets. Your checkout is not touched.
source: { git: ${flow(git)} }
${lacksLockfile ? noLockfile.map((line) => `# ${line}\n`).join("") : ""}${setupText(setups)}# One commit for each phase, on a branch of your repository.
deliver: { branch: "maestro/{key}" }
phases:
  - name: implementation
    personas: [developer]
personas:
  developer:
    instructions: >-
      Change the code as the brief asks, in the style of the repository. Read before you write, keep the change small, add a
      test for it, and run the tests before you submit.
    # The default tools, and commands in a sandbox.
    tools: ["*", ${namedTools.command}]
    # Existing tests, their settings and lockfiles are protected. To let it change them: mayChange: ["test/**"]
${checksText(checks)}`;
}

function setupText(setups: RepositoryTeam["setups"]): string {
  if (setups.length === 0) return "";
  const lines = setups.map(
    ({ run, inputs, keep, network, because }) =>
      `  # From ${because}.
  - { run: ${flow(run)}, inputs: ${flow(inputs)}, keep: ${flow(keep)}, network: ${flow(network)} }`,
  );
  return `# Dependencies, installed once and shared by sessions.
setup:
${lines.join("\n")}
`;
}

function checksText(checks: RepositoryTeam["checks"]): string {
  if (checks.length === 0)
    return `    # Commands that must succeed. They run before the work, and on every result.
    # contract: { checks: [{ name: test, run: [make, test], must: no-worse }] }
`;
  const lines = checks.map(
    ({ name, run }) => `        - { name: ${flow(name)}, run: ${flow(run)}, must: no-worse }`,
  );
  return `    contract:
      # no-worse: what failed before the work may fail after it, and nothing else.
      checks:
${lines.join("\n")}
`;
}

/** JSON is YAML. */
const flow = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(/\[ | \]/g, (found) => found.trim());
