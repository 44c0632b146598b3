import { defineTeam, type PersonaOptions, persona, phase, type Team } from "../../../../src/index.ts";

export type Work = (name: string) => PersonaOptions;

export interface SmallTeamOptions {
  readonly planning?: "rules" | "model";
  readonly more?: Readonly<Record<string, PersonaOptions>>;
  readonly model?: string;
  readonly budget?: { readonly tokens: number };
  /** Of the first phase, besides. */
  readonly joins?: readonly string[];
}

/** Two phases of known and unknown personas whose work is quick: what is tested is who works, not what comes of it. */
export function smallTeam(
  work: Work,
  { planning = "rules", more = {}, model, budget, joins = [] }: SmallTeamOptions = {},
): Team {
  const member = (name: string) => persona(name, more[name] ?? work(name));
  return defineTeam("small", {
    planning,
    ...(model !== undefined && { model }),
    ...(budget !== undefined && { budget }),
    phases: [
      phase("design", { personas: ["solution_architect", "database_specialist", ...joins].map(member) }),
      phase("implementation", { personas: ["backend_developer", "frontend_developer", "poet"].map(member) }),
    ],
  });
}
