import { TeamInvalid } from "../../domain/errors.ts";
import { builtInNames } from "../../personas/tools/offered-tools.ts";
import { tools as toolTable } from "../../personas/tools/tool-table.ts";
import { namedMatcher, readNamedFiles } from "../../workspace/named-files.ts";
import { isPattern } from "./is-pattern.ts";
import { type PersonaPlace, type PhaseSet, Providers } from "./providers.ts";
import type { PersonaDefinition, PhaseDefinition, TeamDefinition } from "./team-definition.ts";

/** A place where the contracts of a team do not fit together. */
export interface IntegrationProblem extends PersonaPlace {
  /** `blocking`: the persona cannot succeed. */
  readonly severity: "blocking" | "warning";
  readonly kind: "missing-provider" | "unfulfilled-contract" | "missing-consumer";
  readonly message: string;
}

/** Problems that the definition alone shows, before anything runs. */
export function integrationProblems(definition: TeamDefinition): readonly IntegrationProblem[] {
  const providers = new Providers(definition);
  const promisedIn = phasesOf(definition, providers, promises);
  const isRead = readersOf(definition, providers);
  return definition.phases.flatMap((phase) =>
    phase.personas.flatMap((persona) => [
      ...missingProviders(phase, persona, providers, promisedIn),
      ...unfulfillable(phase, persona),
      ...(isRead(phase, persona) ? [] : [unread(phase, persona)]),
    ]),
  );
}

/** Refuses a session, a change or a fork of a team in which a persona can never succeed. */
export function refuseBlocking(
  definition: TeamDefinition,
  advice = "Correct the contracts or policies that are named.",
): void {
  const { name } = definition;
  const problems = integrationProblems(definition).filter(({ severity }) => severity === "blocking");
  if (problems.length === 0) return;
  throw new TeamInvalid(
    `Team "${name}" cannot succeed: ${problems.map(({ message }) => message).join(" ")}`,
    { details: { team: name, problems }, advice },
  );
}

/** For each name, the phases in which a persona with that name passes the test. */
function phasesOf(
  { phases }: TeamDefinition,
  providers: Providers,
  test: (persona: PersonaDefinition) => boolean,
): ReadonlyMap<string, PhaseSet> {
  const found = new Map<string, PhaseSet>();
  for (const phase of phases) {
    for (const persona of phase.personas.filter(test)) {
      found.set(persona.name, (found.get(persona.name) ?? 0n) | providers.only(phase.name));
    }
  }
  return found;
}

function* missingProviders(
  phase: PhaseDefinition,
  { name: persona, consumes }: PersonaDefinition,
  providers: Providers,
  promisedIn: ReadonlyMap<string, PhaseSet>,
): Generator<IntegrationProblem> {
  const problem = { kind: "missing-provider", phase: phase.name, persona } as const;
  for (const name of consumes ?? []) {
    const homes = providers.providing(name, phase.name, persona);
    if (homes === 0n) {
      const message = `${persona} consumes ${name}, which is not there by then.`;
      yield { ...problem, severity: "blocking", message };
    } else if ((homes & (promisedIn.get(name) ?? 0n)) === 0n) {
      const message = `${persona} consumes ${name}, whose contract promises neither deliverables nor outputs.`;
      yield { ...problem, severity: "warning", message };
    }
  }
}

const promises = ({ contract }: PersonaDefinition): boolean =>
  contract.deliverables.length > 0 || contract.outputs !== undefined;

/** Deliverables that the persona's own policy forbids. */
function* unfulfillable(
  { name: phase }: PhaseDefinition,
  { name: persona, contract, policy, work, tools }: PersonaDefinition,
): Generator<IntegrationProblem> {
  const { write } = policy;
  const problem = { kind: "unfulfilled-contract", phase, persona } as const;
  const cannotWrite =
    work.kind === "model" &&
    tools !== undefined &&
    !builtInNames(tools).some((tool) => toolTable[tool].writes ?? toolTable[tool].changesFiles);
  const mayWrite = write === null ? () => true : namedMatcher(write);
  for (const { name, files, must } of contract.deliverables) {
    const severity = must ? "blocking" : "warning";
    if (cannotWrite) {
      const message = `${persona} must deliver ${name} and has no tool to write files.`;
      yield { ...problem, severity, message };
      continue;
    }
    const barred = readNamedFiles(files).globs.find((file) => !isPattern(file) && !mayWrite(file));
    if (barred === undefined) continue;
    const message = `${persona} must deliver ${barred}, which its policy does not let it write.`;
    yield { ...problem, severity, message };
  }
}

/**
 * Whether another persona reads a persona's promised result. In a phase without dependents it is the team's own
 * result.
 */
function readersOf(
  definition: TeamDefinition,
  providers: Providers,
): (phase: PhaseDefinition, persona: PersonaDefinition) => boolean {
  const consumed = new Map<string, PhaseSet>();
  let readByAll = 0n;
  let waitedFor = 0n;
  for (const phase of definition.phases) {
    waitedFor |= providers.ancestors(phase.name);
    for (const { name: consumer, consumes } of phase.personas) {
      if (consumes === null) readByAll |= providers.ancestors(phase.name);
      for (const name of consumes ?? []) {
        const homes = providers.providing(name, phase.name, consumer);
        consumed.set(name, (consumed.get(name) ?? 0n) | homes);
      }
    }
  }
  return (phase, persona) => {
    const here = providers.only(phase.name);
    if (!promises(persona) || (waitedFor & here) === 0n || (readByAll & here) !== 0n) return true;
    return ((consumed.get(persona.name) ?? 0n) & here) !== 0n;
  };
}

const unread = (
  { name: phase }: PhaseDefinition,
  { name: persona }: PersonaDefinition,
): IntegrationProblem => ({
  severity: "warning",
  kind: "missing-consumer",
  phase,
  persona,
  message: `No persona after phase ${phase} consumes the deliverables of ${persona}: each later persona names others.`,
});
