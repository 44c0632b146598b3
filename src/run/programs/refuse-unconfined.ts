import type { SessionId } from "../../domain/ids.ts";
import { isAccepted } from "../../journal/session-state.ts";
import { builtInNames, serverPatterns } from "../../personas/tools/offered-tools.ts";
import { namedTools } from "../../personas/tools/tool-table.ts";
import { readState } from "../../store/session-journal.ts";
import type { Store } from "../../store/store.ts";
import type { Team } from "../../team/define.ts";
import { dependentsOf } from "../../team/definition/order.ts";
import type { PersonaDefinition, PhaseDefinition } from "../../team/definition/team-definition.ts";
import type { SandboxRule } from "../../workspace/sandbox-kind.ts";
import { selectPhases } from "../direction.ts";
import type { Preparation } from "../prepare.ts";

/**
 * Refuses phases whose checks or commands could not be confined here, before anything is paid. `isLeft` is asked only
 * where there is no sandbox: it may read a long history.
 */
export async function refuseUnconfined(
  phases: readonly PhaseDefinition[],
  rule: SandboxRule,
  isLeft: () => Promise<(phase: string) => boolean> = async () => () => true,
): Promise<void> {
  if (rule === "none" || !phases.some(({ personas }) => personas.some(launches))) return;
  const { describeSandbox } = await import("../../workspace/sandbox.ts");
  const found = await describeSandbox();
  if (found.kind !== "none") return;
  const left = await isLeft();
  const [first] = phases.flatMap(({ name: phase, personas }) =>
    left(phase) ? personas.filter(launches).map((persona) => ({ phase, persona })) : [],
  );
  if (first === undefined) return;
  const { phase, persona } = first;
  const what =
    persona.work.kind === "command"
      ? "the command"
      : runsCommands(persona.tools)
        ? "the commands"
        : "the checks";
  const { unconfined } = await import("../../workspace/unconfined.ts");
  throw unconfined(`Nothing was started: ${what} of ${persona.name} in phase ${phase} cannot run`, found);
}

/** The same for a session: only the phases that a drive would still run count. */
export function refuseUnconfinedDrive(
  id: SessionId,
  { definition }: Pick<Team, "definition">,
  { direction = {}, edits = {}, acceptChanges = false }: Preparation,
  { store, sandbox }: { readonly store: Store; readonly sandbox: SandboxRule },
): Promise<void> {
  return refuseUnconfined(definition.phases, sandbox, async () => {
    const state = await readState(store, id);
    const chosen = selectPhases(definition, state, direction).map(({ name }) => name);
    // These may run completed phases again.
    const runsAgain = acceptChanges || Object.keys(edits).length > 0;
    return (name) => chosen.includes(name) && (runsAgain || !isAccepted(state.phases.get(name)));
  });
}

/** The same for a fork, before it exists. */
export function refuseUnconfinedFork(
  { definition }: Pick<Team, "definition">,
  at: string,
  sandbox: SandboxRule,
): Promise<void> {
  const runs = new Set([at, ...dependentsOf(definition, at)]);
  return refuseUnconfined(
    definition.phases.filter(({ name }) => runs.has(name)),
    sandbox,
  );
}

/** Functions run in our own process; only the checks of their contracts are launched. */
export const launches = ({ work, contract, tools, mcp }: PersonaDefinition): boolean =>
  work.kind === "command" || contract.checks.length > 0 || runsCommands(tools) || startsServers(mcp, tools);

/** Of the team's servers the drive finds out when it starts one. */
const startsServers = (mcp: PersonaDefinition["mcp"], tools: PersonaDefinition["tools"]): boolean =>
  serverPatterns(tools).length > 0 && Object.values(mcp ?? {}).some(({ command }) => command !== undefined);

const runsCommands = (tools: PersonaDefinition["tools"]): boolean =>
  builtInNames(tools).includes(namedTools.command);
