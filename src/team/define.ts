import { isModelObject, type LanguageModelObject } from "../personas/model/model-object.ts";
import { teamFingerprint } from "./definition/fingerprint.ts";
import { freeze } from "./definition/freeze.ts";
import { GivenFiles } from "./definition/given-files.ts";
import { teamInvalid } from "./definition/invalid.ts";
import { Problems } from "./definition/place.ts";
import { readTeam } from "./definition/read-team.ts";
import type { TeamDefinition } from "./definition/team-definition.ts";
import type {
  KnownPhases,
  Persona,
  PersonaOptions,
  Phase,
  PhaseOptions,
  TeamOptions,
} from "./definition/written.ts";

export type { Persona, PersonaOptions, Phase, PhaseOptions, TeamOptions } from "./definition/written.ts";

/** Parts of a team that its definition names but that are not plain data or too long for it. */
export interface TeamParts {
  /** Skills and texts of personas, by SHA-256, until a session has stored them. */
  readonly contents?: ReadonlyMap<string, Uint8Array>;
  /** The team's model if code gave an object. Personas' models are in `phases`. */
  readonly model?: LanguageModelObject;
}

export interface Team<PhaseName extends string = string> extends TeamParts {
  readonly name: string;
  /** The team as data, recorded with each session and in its checkpoints. */
  readonly definition: TeamDefinition;
  readonly fingerprint: string;
  /** As written, with the code of function personas. Phases and personas correspond one to one to the definition. */
  readonly phases: readonly Phase<PhaseName>[];
}

/** The phases of a team: `"requirements" | "design"`. */
export type PhaseNameOf<T extends Team> = T extends Team<infer PhaseName> ? PhaseName : never;

export function persona(name: string, options: PersonaOptions): Persona {
  return Object.freeze({ ...options, name });
}

export function phase<const Name extends string, const DependsOn extends string = never>(
  name: Name,
  options: PhaseOptions<DependsOn>,
): Phase<Name, DependsOn> {
  return Object.freeze({ ...options, name });
}

/** Checks the team, so that a wrong one is an error before anything runs. */
export function defineTeam<const PhaseName extends string, const DependsOn extends string = never>(
  name: string,
  options: TeamOptions<PhaseName, DependsOn> & KnownPhases<PhaseName, DependsOn>,
): Team<PhaseName> {
  const files = new GivenFiles();
  const problems = new Problems(files);
  const definition = readTeam({ ...options, name }, "module", problems);
  if (problems.count > 0 || definition === undefined) {
    const sentences = problems.found.map(({ sentence }) => sentence);
    throw teamInvalid(`Team "${name}"`, sentences, { team: name, count: problems.count });
  }
  const { model } = options;
  return teamOf(definition, options.phases, {
    contents: files.contents,
    ...(isModelObject(model) && { model }),
  });
}

/** A team from its definition and its source. */
export function teamOf<PhaseName extends string>(
  definition: TeamDefinition,
  phases: readonly Phase<PhaseName>[],
  { contents, model }: TeamParts = {},
): Team<PhaseName> {
  const { name } = definition;
  return Object.freeze({
    name,
    definition: freeze(definition),
    fingerprint: teamFingerprint(definition),
    phases: Object.freeze([...phases]),
    ...(contents !== undefined && { contents }),
    ...(model !== undefined && { model }),
  });
}
