import type { Decision } from "../../journal/journal.ts";
import type { PersonaDefinition, TeamDefinition } from "../../team/definition/team-definition.ts";
import { type Blueprint, blueprints } from "./blueprints.ts";
import type { Classification, Classified } from "./classification.ts";
import type { Additions } from "./model-plan.ts";
import type { Verdict } from "./staffing.ts";

/** A session knows recorded decisions by their titles: each title is recorded once. */
export const decisionTitles = {
  classification: "Classification",
  blueprint: "Blueprint",
  personas: "Personas",
  contracts: "Contracts",
} as const;

export function decideClassification({ classification, reason, rejected }: Classified): Decision {
  const { type, complexity, parallelism, expertise, risks, confidence } = classification;
  const said = [
    `${type}, ${complexity}, ${parallelism} at once`,
    `needs ${expertise.join(", ")}`,
    `confidence ${confidence}`,
    ...(risks.length === 0 ? [] : [`risks: ${risks.join(" ")}`]),
  ];
  return { title: decisionTitles.classification, choice: said.join("; "), reason, rejected };
}

/** `said`: the model's reason. */
export function decideBlueprint(
  classification: Classification,
  chosen: Blueprint,
  said: string | undefined,
): Decision {
  const { type, expertise } = classification;
  const byRules = `The brief is of type ${type} and needs ${expertise.join(", ")}: ${chosen.purpose}.`;
  return {
    title: decisionTitles.blueprint,
    choice: chosen.name,
    reason: said === undefined ? byRules : `The model: ${said}`,
    rejected: blueprints
      .filter((other) => other !== chosen)
      .map(({ name, purpose, whyNot }) => {
        const closer = said === undefined ? "fits more closely" : "was chosen by the model";
        const reason = whyNot(classification) ?? `${chosen.name} ${closer}`;
        return `${name} (${purpose}): ${reason}`;
      }),
  };
}

export function decidePersonas(
  definition: TeamDefinition,
  verdicts: ReadonlyMap<string, ReadonlyMap<string, Verdict>>,
): Decision {
  const working = definition.phases.map(
    ({ name, personas }) => [name, new Set(personas.map((persona) => persona.name))] as const,
  );
  const chosen = working.map(([phase, names]) => `${phase}: ${[...names].join(", ")}`);
  const reasons = working.flatMap(([phase, names]) =>
    [...(verdicts.get(phase) ?? [])].flatMap(([name, { reason }]) =>
      names.has(name) ? [`${name} (${phase}): ${reason}`] : [],
    ),
  );
  const rejected = working.flatMap(([phase, names]) =>
    [...(verdicts.get(phase) ?? [])].flatMap(([name, { reason }]) =>
      names.has(name) ? [] : [`${name} in ${phase}: ${reason}`],
    ),
  );
  return {
    title: decisionTitles.personas,
    choice: chosen.join("; "),
    reason: `${reasons.join("; ")}.`,
    rejected,
  };
}

export function decideContracts(
  source: TeamDefinition,
  definition: TeamDefinition,
  blueprint: Blueprint,
  said: Additions,
): Decision {
  const all = definition.phases.flatMap(({ personas }) => personas);
  const count = (items: (persona: PersonaDefinition) => readonly unknown[]): number =>
    all.reduce((sum, persona) => sum + items(persona).length, 0);
  const added = (adds: Additions["adds"]) =>
    all.flatMap(({ name, contract }) =>
      contract.deliverables.flatMap(({ files }) =>
        Object.values(adds[name] ?? {}).some((file) => files.includes(file))
          ? [`${files.join(", ")} from ${name}`]
          : [],
      ),
    );
  const additions = (who: string, adds: Additions["adds"]) => {
    const files = new Set(added(adds));
    return files.size === 0 ? "" : `; ${who} adds ${[...files].join(" and ")}`;
  };
  const deliverables = count(({ contract }) => contract.deliverables);
  const checks = count(({ contract }) => contract.checks);
  return {
    title: decisionTitles.contracts,
    choice: `${deliverables} deliverables and ${checks} checks${additions(blueprint.name, blueprint.adds)}${additions("the model", said.adds)}; personas consume only from present personas`,
    reason:
      "What a plan adds is checked offline with Node alone, so that every gate can be reached on any machine.",
    rejected: [...dropped(source, definition), ...said.rejected],
  };
}

/** Entries of `consumes` whose provider is not part of the plan. */
function dropped(source: TeamDefinition, definition: TeamDefinition): readonly string[] {
  return definition.phases.flatMap(({ name: phase, personas }) =>
    personas.flatMap(({ name, consumes }) => {
      const before = source.phases
        .find((other) => other.name === phase)
        ?.personas.find((other) => other.name === name)?.consumes;
      const gone = (before ?? []).filter((provider) => consumes?.includes(provider) === false);
      return gone.length === 0 ? [] : [`${name} reading from ${gone.join(", ")}: not there`];
    }),
  );
}
