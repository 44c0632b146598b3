import { fingerprint } from "../../domain/canonical.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { builtInNames, serverPatterns } from "../../personas/tools/offered-tools.ts";
import { namedTools } from "../../personas/tools/tool-table.ts";
import { definitionJson, type PersonaDefinition, type TeamDefinition } from "./team-definition.ts";
import { guidanceKeys, toolKeys } from "./team-keys.ts";

/** Fingerprint of the whole definition. A session resumes without questions only if it is equal. */
export const teamFingerprint = (definition: TeamDefinition): string =>
  fingerprint(definitionJson(definition));

/**
 * Fingerprint of everything that can change a persona's result: its work with its model, its inputs, its contract
 * and its permissions. Excludes limits on trying (budget, reserve, attempts, timeout, healing), the later judgment
 * (gate) and the work beside it (parallel). Excludes the code of functions: its text does not cover imports and
 * closures, and a build or a formatter would change it without effect. Rename the persona if its code means
 * something else.
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

/** Like `personaFingerprint`, for a given persona. */
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

/** The servers whose tools the persona has. */
function serversOf({ mcp = {} }: TeamDefinition, { tools }: PersonaDefinition): object {
  const used = new Set(serverPatterns(tools).map((pattern) => pattern.split("/", 1)[0] ?? ""));
  const servers = Object.entries(mcp).filter(([name]) => used.has(name));
  return servers.length === 0 ? {} : { servers: Object.fromEntries(servers) };
}

/** The persona's setting, or the team's. */
const webOf = ({ web }: TeamDefinition, persona: PersonaDefinition): object =>
  persona.web === undefined && web !== undefined && builtInNames(persona.tools).includes(namedTools.fetch)
    ? { web }
    : {};

/** Only keys that were written. Whether a person must approve a call does not change the persona's abilities. */
function toolsOf(persona: PersonaDefinition): object {
  const { approve: _, ...known } = { ...toolKeys, ...guidanceKeys };
  const keys = Object.keys(known) as (keyof typeof known)[];
  return Object.fromEntries(keys.flatMap((key) => (persona[key] === undefined ? [] : [[key, persona[key]]])));
}

function workOf({ model }: TeamDefinition, { work }: PersonaDefinition): object {
  if (work.kind === "model") return { ...work, model: work.model ?? model };
  return work.kind === "command" ? { ...work, reserve: null } : work;
}
