import type { PersonaDefinition, WorkDefinition } from "../../team/definition/team-definition.ts";
import type { Blueprint } from "./blueprints.ts";
import { type Classification, type Expertise, expertises } from "./classification.ts";
import { findSigns } from "./find-signs.ts";

/** Whether a persona works in a phase, and why. */
export interface Verdict {
  readonly isChosen: boolean;
  readonly reason: string;
}

interface Asked {
  readonly phase: string;
  readonly brief: Classification;
  readonly blueprint: Blueprint;
  /** Needed as work, not only as the subject. */
  readonly needs: (...names: readonly Expertise[]) => boolean;
  /** Only texts for people are delivered. */
  readonly isText: boolean;
}

type Rule = (asked: Asked) => Verdict;

const yes = (reason: string): Verdict => ({ isChosen: true, reason });
const no = (reason: string): Verdict => ({ isChosen: false, reason });

const always =
  (reason: string): Rule =>
  () =>
    yes(reason);

const whenNeeded =
  (name: Expertise): Rule =>
  ({ needs }) =>
    needs(name) ? yes(`the brief asks for ${name} work`) : no(`the brief does not ask for ${name} work`);

const noCode = "there is no code in this blueprint";

/** Personas that the rules know by their names. */
const rules: Readonly<Record<string, Rule>> = {
  requirement_analyst: always("the team needs criteria for when the work is done"),
  solution_architect: always("the parts have to fit together"),
  ui_ux_designer: ({ needs, brief: { type, complexity } }) => {
    if (needs("ux")) return yes("the brief asks for ux work");
    if (!needs("frontend")) return no("the brief asks for neither ux nor frontend work");
    return type === "feature" && complexity !== "small"
      ? yes("new screens need a design before they are built")
      : no("what is there to see changes too little for a design of its own");
  },
  database_specialist: whenNeeded("database"),
  security_specialist: whenNeeded("security"),
  backend_developer: ({ needs, isText, blueprint }) => {
    if (isText) return no(noCode);
    if (needs("backend")) return yes("the brief asks for backend work");
    if (blueprint.name === "infrastructure") return no("the software itself stays as it is");
    if (needs("frontend")) return no("the brief does not ask for backend work");
    if (needs("devops") && !needs("database")) return no("the work is in the operation, not in the code");
    return yes("the code has to be written");
  },
  frontend_developer: (asked) => (asked.isText ? no(noCode) : whenNeeded("frontend")(asked)),
  devops_engineer: ({ phase, needs, isText, blueprint }) => {
    if (isText) return no("there is nothing to deploy in this blueprint");
    if (phase !== "implementation") return yes("it has to run on other machines");
    if (blueprint.name === "infrastructure") return yes("what it runs on is what is built");
    return needs("devops") && !needs("backend", "frontend", "database")
      ? yes("the work is in the operation, not in the code")
      : no("it begins when there is something to deploy");
  },
  technical_writer: ({ phase, needs, isText, brief: { complexity } }) => {
    if (isText) return yes("the text is what is delivered");
    if (phase === "implementation") return no("it describes what is built, and so comes after it");
    if (needs("docs")) return yes("the brief asks for documentation");
    return complexity === "large"
      ? yes("something this large is not used without a guide")
      : no("the brief does not ask for documentation");
  },
  test_engineer: ({ isText }) => (isText ? no(noCode) : yes("code is proved by tests")),
  qa_engineer: ({ needs, isText, brief: { complexity } }) => {
    if (isText) return yes("a text is checked by a reader who knows the requirements");
    if (needs("testing")) return yes("the brief asks for testing");
    if (complexity === "large") return yes("work of this size needs an independent reviewer");
    return needs("frontend") && complexity !== "small"
      ? yes("what people see is judged as they would")
      : no("tests are enough for something this small");
  },
};

/** The rule for a persona with another name, by its expertise. */
const byExpertise: Readonly<Record<Expertise, keyof typeof rules>> = {
  backend: "backend_developer",
  frontend: "frontend_developer",
  database: "database_specialist",
  security: "security_specialist",
  ux: "ui_ux_designer",
  devops: "devops_engineer",
  docs: "technical_writer",
  testing: "test_engineer",
};

/** A custom persona works where its kind would; a persona without a recognizable kind always works. */
function judgeUnknown(persona: StaffedPersona, asked: Asked): Verdict {
  const kinds = expertiseOf(persona);
  const verdicts = kinds.flatMap((kind) => rules[byExpertise[kind]]?.(asked) ?? []);
  const [first] = verdicts;
  if (first === undefined) return yes("neither its name nor its instructions name an expertise");
  const { isChosen, reason } = verdicts.find((verdict) => verdict.isChosen) ?? first;
  return { isChosen, reason: `by its own description it is there for ${kinds.join(", ")}: ${reason}` };
}

export interface StaffedPersona {
  readonly name: string;
  readonly work: WorkDefinition;
}

/** For each persona of a phase; at least one is chosen. */
export function staff(
  phase: { readonly name: string; readonly personas: readonly StaffedPersona[] },
  brief: Classification,
  blueprint: Blueprint,
): ReadonlyMap<string, Verdict> {
  const asked: Asked = {
    phase: phase.name,
    brief,
    blueprint,
    isText: blueprint.name === "documentation" || blueprint.name === "research",
    needs: (...names) =>
      names.some((name) => brief.expertise.includes(name) && !blueprint.subjects.includes(name)),
  };
  const verdicts = new Map(
    phase.personas.map((persona) => {
      const rule = Object.hasOwn(rules, persona.name) ? rules[persona.name] : undefined;
      return [persona.name, rule?.(asked) ?? judgeUnknown(persona, asked)];
    }),
  );
  const [first] = phase.personas;
  if (first !== undefined && [...verdicts.values()].every(({ isChosen }) => !isChosen))
    verdicts.set(first.name, yes("every phase keeps one persona"));
  return verdicts;
}

/** Weight of a phrase that names an expertise: a mere mention does not count. */
const veryName = 3;
const mostCharacters = 400;

/** The expertise of a persona, by its name or the first sentence of its instructions. */
export function expertiseOf({ name, work }: Pick<PersonaDefinition, "name" | "work">): readonly Expertise[] {
  const named = expertiseIn(name.replaceAll(/[_-]+/g, " ").replaceAll(/(?<=[a-z])(?=[A-Z])/g, " "));
  if (named.length > 0) return named;
  const instructions = work.kind === "function" ? "" : (work.instructions ?? "");
  const [first = ""] = instructions.slice(0, mostCharacters).split(/(?<=[.!?])\s|\n/, 1);
  return expertiseIn(first);
}

function expertiseIn(text: string): readonly Expertise[] {
  const found = new Set(
    findSigns(text).signs.flatMap(({ meaning, isRefused }) =>
      meaning.of === "expertise" && meaning.weight >= veryName && !isRefused ? [meaning.name] : [],
    ),
  );
  const said = text.toLowerCase().split(/[^a-z]+/);
  return expertises.filter((name) => found.has(name) || said.includes(name));
}
