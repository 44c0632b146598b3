import type { GivenFile } from "../../personas/guidance.ts";
import type { TeamDefinition } from "./team-definition.ts";

/** The files beside the team that its personas are given, by hash. */
export const givenFilesOf = ({ phases }: TeamDefinition): readonly GivenFile[] =>
  phases.flatMap(({ personas }) =>
    personas.flatMap(({ skills = [], context = [] }) => [
      ...skills.flatMap(({ files }) => files),
      ...context.filter((file) => "sha256" in file),
    ]),
  );
