import { fingerprint } from "../../domain/canonical.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { builtInNames, serverPatterns } from "../../personas/tools/offered-tools.ts";
import { namedTools } from "../../personas/tools/tool-table.ts";
import { definitionJson, type PersonaDefinition, type TeamDefinition } from "./team-definition.ts";
import { guidanceKeys, toolKeys } from "./team-keys.ts";

/** Of the whole definition: a session resumes without questions only with the same one. */
export const teamFingerprint = (definition: TeamDefinition): string =>
  fingerprint(definitionJson(definition));

/**
 * Of what can change a persona's result: its work with the model it would get, what it reads, what it must deliver and
 * what it may do. Not of how long or how dearly it may try (budget, reserve, attempts, timeout, healing), nor of what
 * judges it afterwards (gate) or runs beside it (parallel).
 *
 * The code of a function is not part of it: its text says nothing about what it imports or closes over, and another
 * build or formatting would change it without changing anything. Rename the persona when its code means something else.
 */
export function personaFingerprint(definition: TeamDefinition, phase: string, persona: string): string {
  const found = definition.phases
    .find(({ name }) => name === phase)
    ?.personas.find(({ name }) => name === persona);
  if (found === undefined) {
    throw new InputInvalid(`Team "${definition.name}" has no persona "${persona}" in phase "${phase}".`);
  }
  return resultFingerprint(definition, phase, found);
}

/** As `personaFingerprint`, for a persona at hand. */
export function resultFingerprint(team: TeamDefinition, phase: string, persona: PersonaDefinition): string {
  const { name, consumes, contract, policy, mayChange } = persona;
  return fingerprint({
    phase,
    name,
    work: workOf(team, persona),
    consumes,
    contract,
    policy,
    ...toolsOf(persona),
    ...serversOf(team, persona),
    ...webOf(team, persona),
    mayChange,
    protect: team.protect,
  } as unknown as Json);
}

/** Those whose tools it has. */
function serversOf({ mcp = {} }: TeamDefinition, { tools }: PersonaDefinition): object {
  const used = new Set(serverPatterns(tools).map((pattern) => pattern.split("/", 1)[0] ?? ""));
  const servers = Object.entries(mcp).filter(([name]) => used.has(name));
  return servers.length === 0 ? {} : { servers: Object.fromEntries(servers) };
}

/** The team's, where its persona has none of its own. */
const webOf = ({ web }: TeamDefinition, persona: PersonaDefinition): object =>
  persona.web === undefined && web !== undefined && builtInNames(persona.tools).includes(namedTools.fetch)
    ? { web }
    : {};

/** Only the keys that were written. Whether a person is asked about a call changes nothing of what the persona can do. */
function toolsOf(persona: PersonaDefinition): object {
  const { approve: _, ...known } = { ...toolKeys, ...guidanceKeys };
  const keys = Object.keys(known) as (keyof typeof known)[];
  return Object.fromEntries(keys.flatMap((key) => (persona[key] === undefined ? [] : [[key, persona[key]]])));
}

function workOf({ model }: TeamDefinition, { work }: PersonaDefinition): object {
  if (work.kind === "model") return { ...work, model: work.model ?? model };
  return work.kind === "command" ? { ...work, reserve: null } : work;
}
