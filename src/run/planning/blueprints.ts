import type { BriefType, Classification, Expertise } from "./classification.ts";

/** A way to deliver: it decides the personas and their additional deliverables. */
export interface Blueprint {
  readonly name: string;
  readonly purpose: string;
  /** Why it does not fit a brief; undefined when it fits. */
  readonly whyNot: (brief: Classification) => string | undefined;
  /** Expertise that the work is about but does not need: documenting an interface needs no programmer. */
  readonly subjects: readonly Expertise[];
  /** By persona: the name of the deliverable and its file. */
  readonly adds: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const onlyFor =
  (wanted: BriefType): Blueprint["whyNot"] =>
  ({ type }) =>
    type === wanted ? undefined : `the brief is of type ${type}`;

/** Needs this expertise, and none of the others. */
const only =
  (wanted: Expertise, ...others: readonly Expertise[]): Blueprint["whyNot"] =>
  ({ expertise }) => {
    if (!expertise.includes(wanted)) return `the brief needs no ${wanted}`;
    const besides = others.find((name) => expertise.includes(name));
    return besides === undefined ? undefined : `the brief needs ${besides} as well`;
  };

/** In the order in which they are tried; the last one always fits. */
export const blueprints: readonly Blueprint[] = [
  {
    name: "documentation",
    purpose: "texts for people, and no code",
    whyNot: onlyFor("documentation"),
    subjects: ["backend", "frontend", "database", "security", "ux", "devops", "testing"],
    adds: { solution_architect: { outline: "docs/outline.md" } },
  },
  {
    name: "research",
    purpose: "an answer with its reasons, and no code",
    whyNot: onlyFor("research"),
    subjects: ["backend", "frontend", "database", "devops", "docs", "testing"],
    adds: { solution_architect: { options: "docs/options.md" } },
  },
  {
    name: "infrastructure",
    purpose: "what software runs on, while the software stays as it is",
    whyNot: onlyFor("infrastructure"),
    subjects: ["backend", "frontend", "ux"],
    adds: { devops_engineer: { rollback: "docs/rollback.md" } },
  },
  {
    name: "fix",
    purpose: "a bug that is reproduced, fixed and covered by a regression test",
    whyNot: onlyFor("bug-fix"),
    subjects: [],
    adds: {
      requirement_analyst: { reproduction: "docs/reproduction.md" },
      test_engineer: { "regression-tests": "test/regression/**" },
    },
  },
  {
    name: "data",
    purpose: "stored data and what moves it",
    whyNot: only("database", "backend", "frontend"),
    subjects: [],
    adds: { database_specialist: { migrations: "db/migrations/**" } },
  },
  {
    name: "frontend-app",
    purpose: "what people see, without a server behind it",
    whyNot: only("frontend", "backend", "database"),
    subjects: [],
    adds: {},
  },
  {
    name: "backend-service",
    purpose: "code without a user interface: a service, a job, a library, a command line",
    whyNot: ({ expertise }) => (expertise.includes("frontend") ? "the brief needs frontend" : undefined),
    subjects: [],
    adds: { solution_architect: { interfaces: "docs/interfaces.md" } },
  },
  {
    name: "full-delivery",
    purpose: "what people see together with what is behind it",
    whyNot: () => undefined,
    subjects: [],
    adds: { solution_architect: { interfaces: "docs/interfaces.md" } },
  },
];

export function chooseBlueprint(classification: Classification): Blueprint {
  return blueprints.find(({ whyNot }) => whyNot(classification) === undefined) as Blueprint;
}

/** The blueprint of a recorded plan. A later version may no longer have it, and then adds nothing. */
export const findBlueprint = (name: string): Blueprint | undefined =>
  blueprints.find((blueprint) => blueprint.name === name);
