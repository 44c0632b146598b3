import { MaestroError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isName } from "../../domain/names.ts";
import { checkPath } from "../../domain/tree-path.ts";
import { isPattern } from "../../team/definition/is-pattern.ts";
import type {
  PersonaDefinition,
  PlanDefinition,
  TeamDefinition,
} from "../../team/definition/team-definition.ts";
import { namedMatcher } from "../../workspace/named-files.ts";
import { type Blueprint, blueprints } from "./blueprints.ts";
import type { ModelPlan } from "./classification.ts";
import type { Verdict } from "./staffing.ts";

/** For a larger team the rules choose the personas. */
const mostPersonas = 100;
const mostDeliverables = 10;
const mostCharacters = 120;

const sentence = { type: "string", minLength: 1, maxLength: 300 };

/** The schema of a plan for this team: only its personas can be chosen. */
export function planSchema(team: TeamDefinition): JsonObject {
  const names = [...new Set(membersOf(team).map(({ persona }) => persona.name))];
  const list = (maxItems: number, properties: JsonObject) => ({
    type: "array",
    maxItems,
    items: object(properties),
  });
  return {
    blueprint: object({ name: { enum: blueprints.map(({ name }) => name) }, reason: sentence }),
    personas: list(mostPersonas, {
      phase: { enum: team.phases.map(({ name }) => name) },
      persona: { enum: names },
      works: { type: "boolean" },
      reason: sentence,
    }),
    deliverables: list(mostDeliverables, {
      persona: { enum: names },
      name: { type: "string", minLength: 1, maxLength: 64 },
      file: { type: "string", minLength: 1, maxLength: 200 },
    }),
  };
}

const object = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

export const canBePlanned = (team: TeamDefinition): boolean => membersOf(team).length <= mostPersonas;

/** The prompt's description of the team. */
export function planQuestion(team: TeamDefinition): string {
  const people = membersOf(team).map(
    ({ phase, persona }) => `- ${phase}: ${persona.name}${toldTo(persona)}${owes(persona)}`,
  );
  return `Then plan the team for the brief; what you leave out is decided by rules.

- blueprint: ${blueprints.map(({ name, purpose }) => `${name} (${purpose})`).join("; ")}; with a reason.
- personas: of the personas below, phase by phase, which ones work on this brief and which do not, each with a reason of one sentence. Every phase needs at least one.
- deliverables: at most ${mostDeliverables} files that this brief needs besides those that are asked for below: whose, a short name, and a path. None is a good answer.

${people.join("\n")}`;
}

const toldTo = ({ work }: PersonaDefinition): string => {
  const [firstLine = ""] = (work.kind === "function" ? "" : (work.instructions ?? "")).split("\n", 1);
  return firstLine === "" ? "" : ` (${firstLine.slice(0, mostCharacters)})`;
};

const owes = ({ contract }: PersonaDefinition): string => {
  const files = contract.deliverables.flatMap((deliverable) => deliverable.files);
  return files.length === 0 ? "" : `, delivers ${files.slice(0, 10).join(", ")}`;
};

/** The problem of a plan that fits the schema; undefined when the plan is valid. */
export function planProblem(
  { personas = [], deliverables = [] }: ModelPlan,
  team: TeamDefinition,
): string | undefined {
  const isThere = (phase: string, name: string) =>
    membersOf(team).some((one) => one.phase === phase && one.persona.name === name);
  const stranger = personas.find(({ phase, persona }) => !isThere(phase, persona));
  if (stranger !== undefined) return `phase ${stranger.phase} has no persona ${stranger.persona}`;
  const unnamed = deliverables.find(({ name }) => !isName(name));
  if (unnamed !== undefined) return `${unnamed.name} is not a valid name of a deliverable`;
  const lost = deliverables.find(({ file }) => isPattern(file) || !isPath(file));
  return lost === undefined ? undefined : `${lost.file} is not a valid path of a file`;
}

function isPath(file: string): boolean {
  try {
    return checkPath(file) === file;
  } catch (error) {
    if (MaestroError.is(error)) return false;
    throw error;
  }
}

/** The personas that the model chose for a phase. If it chose none, the rules decide. */
export function staffAsSaid(
  phase: string,
  byRules: ReadonlyMap<string, Verdict>,
  { personas = [] }: ModelPlan,
): ReadonlyMap<string, Verdict> {
  const choices = new Map(
    personas.flatMap((one) => (one.phase === phase ? [[one.persona, one] as const] : [])),
  );
  const verdicts = new Map(
    [...byRules].map(([name, verdict]) => {
      const choice = choices.get(name);
      return [
        name,
        choice === undefined ? verdict : { isChosen: choice.works, reason: `the model: ${choice.reason}` },
      ];
    }),
  );
  return [...verdicts.values()].some(({ isChosen }) => isChosen) ? verdicts : byRules;
}

export interface Additions {
  /** By persona: the name of the deliverable and its file. */
  readonly adds: NonNullable<PlanDefinition["adds"]>;
  /** A sentence with the reason. */
  readonly rejected: readonly string[];
}

/** Files that the model requests and that no persona delivers yet: a file has one owner. */
export function additionsOf(
  { deliverables = [] }: ModelPlan,
  team: TeamDefinition,
  blueprint: Blueprint,
): Additions {
  const adds: Record<string, Record<string, string>> = {};
  const owners = new Map<string, string>();
  const rejected: string[] = [];
  for (const { persona, name, file } of deliverables) {
    const owner = owners.get(file) ?? ownerOf(team, blueprint, file);
    if (owner !== undefined) rejected.push(`${file} from ${persona}: ${owner} delivers it`);
    else {
      owners.set(file, persona);
      adds[persona] = { ...adds[persona], [name]: file };
    }
  }
  return { adds, rejected };
}

const ownerOf = (team: TeamDefinition, { adds }: Blueprint, file: string): string | undefined =>
  membersOf(team).find(({ persona: { name, contract } }) =>
    [
      ...contract.deliverables.map(({ files }) => files),
      ...Object.values(adds[name] ?? {}).map((added) => [added]),
    ].some((files) => namedMatcher(files)(file)),
  )?.persona.name;

const membersOf = ({ phases }: TeamDefinition) =>
  phases.flatMap(({ name, personas }) => personas.map((persona) => ({ phase: name, persona })));
