import { serverPatterns } from "../../personas/tools/offered-tools.ts";
import { checkBudgets } from "./check-budgets.ts";
import { checkConsumes } from "./check-consumes.ts";
import { checkContracts } from "./check-contracts.ts";
import { checkPhases } from "./check-phases.ts";
import { definitionLimits } from "./limits.ts";
import type { McpDefinition } from "./mcp-keys.ts";
import type { Problems } from "./place.ts";
import type { ReadPhase } from "./read-phase.ts";
import { shown } from "./shown.ts";
import type { BudgetDefinition } from "./team-definition.ts";

/** Checks that need the whole team. */
export function checkTeam(
  phases: readonly ReadPhase[],
  { budget, mcp = {} }: { readonly budget: BudgetDefinition | null; readonly mcp?: McpDefinition },
  problems: Problems,
): void {
  const isOrdered = checkPhases(phases, problems);
  checkConsumes(phases, isOrdered, problems);
  checkContracts(phases, isOrdered);
  checkBudgets(phases, budget);
  checkServers(phases, mcp);
  checkSize(phases);
}

/** Tools of servers that the team does not have. */
function checkServers(phases: readonly ReadPhase[], mcp: McpDefinition): void {
  for (const { definition, described } of phases.flatMap(({ personas }) => personas)) {
    const known = Object.keys({ ...mcp, ...definition.mcp });
    const at = described.at("tools");
    for (const pattern of serverPatterns(definition.tools)) {
      const [server = ""] = pattern.split("/", 1);
      if (definition.work.kind === "function")
        at.problem(`names ${shown(pattern)}: tools of MCP servers are for models.`);
      else if (!known.includes(server))
        at.problem(
          `names ${shown(pattern)}, and there is no MCP server ${shown(server)}.${at.problems.suggest(server, known)}`,
        );
    }
  }
}

/** One long text in a thousand phases is recorded a thousand times. */
function checkSize(phases: readonly ReadPhase[]): void {
  const size = phases.flatMap(({ personas }) => personas).reduce((sum, persona) => sum + persona.size, 0);
  const most = definitionLimits.characters;
  if (size <= most) return;
  const place = phases[0]?.place.as("the team");
  place?.problem(`has ${size} characters in all its phases together; at most ${most} are allowed.`);
}
