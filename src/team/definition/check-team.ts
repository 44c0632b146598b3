import { builtInNames, serverPatterns } from "../../personas/tools/offered-tools.ts";
import { namedTools } from "../../personas/tools/tool-table.ts";
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
import type { WebDefinition } from "./tool-keys.ts";

interface TeamWide {
  readonly budget: BudgetDefinition | null;
  readonly mcp?: McpDefinition | undefined;
  readonly web?: WebDefinition | undefined;
}

/** Checks that need the whole team. */
export function checkTeam(
  phases: readonly ReadPhase[],
  { budget, mcp = {}, web }: TeamWide,
  problems: Problems,
): void {
  const isOrdered = checkPhases(phases, problems);
  checkConsumes(phases, isOrdered, problems);
  checkContracts(phases, isOrdered);
  checkBudgets(phases, budget);
  checkServers(phases, mcp);
  checkWeb(phases, web);
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

/** Reading pages requires a list of hosts. */
function checkWeb(phases: readonly ReadPhase[], ofTeam: WebDefinition | undefined): void {
  for (const { definition, described } of phases.flatMap(({ personas }) => personas)) {
    const { tools, web = ofTeam } = definition;
    if (web === undefined && builtInNames(tools).includes(namedTools.fetch))
      described
        .at("tools")
        .problem(`names ${namedTools.fetch}, and there is no web.allow that says which hosts it may read.`);
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
