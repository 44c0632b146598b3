import type { Check, Contract, Deliverable } from "../../domain/contract.ts";
import { integrationProblems } from "../../team/definition/integration.ts";
import { Providers } from "../../team/definition/providers.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
} from "../../team/definition/team-definition.ts";

/** Additions of a plan to a persona's contract, by name, with checks that run offline on any machine. */
export function withAdditions(
  persona: PersonaDefinition,
  files: Readonly<Record<string, string>>,
): PersonaDefinition {
  const { work, policy, contract, tools } = persona;
  const added = Object.entries(files).filter(([called, file]) => !hasDeliverable(contract, called, file));
  // The work of a function is fixed, and a write policy must not exclude the deliverables of its persona.
  if (added.length === 0 || work.kind !== "model" || policy.write !== null || tools !== undefined)
    return persona;
  return {
    ...persona,
    contract: {
      ...contract,
      deliverables: [...contract.deliverables, ...added.map(asDeliverable)],
      checks: [...contract.checks, ...added.flatMap(([called, file]) => checksFor(called, file))],
    },
  };
}

const hasDeliverable = ({ deliverables, checks }: Contract, called: string, file: string): boolean =>
  deliverables.some(({ name, files }) => name === called || files.includes(file)) ||
  checks.some(({ name }) => name === checkName(called));

const asDeliverable = ([name, file]: readonly [string, string]): Deliverable => ({
  name,
  files: [file],
  must: true,
  weight: 1,
});

/** A deliverable exists and is not empty. A text for people also has a title. */
function checksFor(called: string, file: string): readonly Check[] {
  if (!file.endsWith(".md")) return [];
  return [{ name: checkName(called), run: ["node", "-e", hasTitle, file], must: true, weight: 1 }];
}

const checkName = (called: string): string => `${called}-has-title`;

/** A title, and something below it: a placeholder is no document. */
const hasTitle = [
  'const [, file] = process.argv, text = require("fs").readFileSync(file, "utf8");',
  "if (!/^# \\S/m.test(text)) {",
  'console.error(file + " has no title: begin it with one line such as # Name."); process.exit(1); }',
  'if (text.replace(/^#.*$/gm, "").replace(/\\b(todo|tbd|placeholder)\\b/gi, "").replace(/\\W/g, "").length < 10) {',
  'console.error(file + " has nothing below its title: write what it is for."); process.exit(1); }',
].join(" ");

/** Personas consume only from present ones, and each deliverable has a consumer. */
export function wire(team: TeamDefinition): TeamDefinition {
  const providers = new Providers(team);
  const wired = mapPersonas(team, (persona, phase) => {
    const { consumes } = persona;
    if (consumes === null || consumes.length === 0) return persona;
    const there = consumes.filter((name) => providers.providing(name, phase.name, persona.name) !== 0n);
    return { ...persona, consumes: there.length > 0 ? there : null };
  });
  return integrationProblems(wired)
    .filter(({ kind }) => kind === "missing-consumer")
    .reduce(withReader, wired);
}

/** Gives a deliverable without a consumer to the first later persona that does not read everything anyway. */
function withReader(
  team: TeamDefinition,
  { phase, persona: provider }: { readonly phase: string; readonly persona: string },
): TeamDefinition {
  const next = team.phases.find(({ dependsOn }) => dependsOn.includes(phase));
  const reader = next?.personas.find(({ consumes }) => consumes !== null)?.name;
  return mapPersonas(team, (persona, { name }) =>
    name === next?.name && persona.name === reader && persona.consumes?.includes(provider) === false
      ? { ...persona, consumes: [...persona.consumes, provider] }
      : persona,
  );
}

export function mapPersonas(
  team: TeamDefinition,
  change: (persona: PersonaDefinition, phase: PhaseDefinition) => PersonaDefinition,
): TeamDefinition {
  return {
    ...team,
    phases: team.phases.map((phase) => ({
      ...phase,
      personas: phase.personas.map((persona) => change(persona, phase)),
    })),
  };
}
