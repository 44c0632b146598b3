import type { GivenFile } from "../../personas/guidance.ts";
import type { TeamDefinition } from "./team-definition.ts";

/** The files that a team gives to its personas, by hash. */
export const givenFilesOf = ({ phases }: TeamDefinition): readonly GivenFile[] =>
  phases.flatMap(({ personas }) =>
    personas.flatMap(({ skills = [], context = [] }) => [
      ...skills.flatMap(({ files }) => files),
      ...context.filter((file) => "sha256" in file),
    ]),
  );
