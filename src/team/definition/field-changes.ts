import { canonicalJson } from "../../domain/canonical.ts";
import type { Json } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import type { Keys } from "./fields.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
  WorkDefinition,
} from "./team-definition.ts";
import {
  agentKeys,
  commandKeys,
  modelKeys,
  personaKeys,
  personaSection,
  phaseSection,
  policySection,
  teamSection,
  toolKeys,
} from "./team-keys.ts";

const {
  phases: _phases,
  personas: _personas,
  $schema: _schema,
  planning: _planning,
  ...teamKeys
} = teamSection.keys;
const { name: _name, personas: _names, ...phaseKeys } = phaseSection.keys;
const { contract: _contract, policy: _policy, ...ownKeys } = personaKeys;

export function teamFieldChanges(before: TeamDefinition, after: TeamDefinition): readonly string[] {
  return [
    ...keyChanges(teamKeys, before, after),
    ...changed("blueprint", before.plan?.blueprint, after.plan?.blueprint),
  ];
}

export function phaseFieldChanges(before: PhaseDefinition, after: PhaseDefinition): readonly string[] {
  return keyChanges(phaseKeys, before, after);
}

export function personaFieldChanges(before: PersonaDefinition, after: PersonaDefinition): readonly string[] {
  return [
    ...workChanges(before.work, after.work),
    ...keyChanges({ ...ownKeys, ...toolKeys }, before, after),
    ...namedChanges("skill", before.skills ?? [], after.skills ?? []),
    ...contextChanges(before, after),
    ...namedChanges("contract: deliverable", before.contract.deliverables, after.contract.deliverables),
    ...changed("contract: outputs", before.contract.outputs, after.contract.outputs, { isLong: true }),
    ...namedChanges("contract: check", before.contract.checks, after.contract.checks),
    ...keyChanges(policySection.keys, before.policy, after.policy, "policy."),
  ];
}

/** An empty list differs from none: it leaves out the notes of the repository. */
function contextChanges({ context: before }: PersonaDefinition, { context: after }: PersonaDefinition) {
  const files = namedChanges("context file", named(before), named(after));
  return files.length > 0 || isSame(before, after) ? files : ["context changed"];
}

const named = (files: PersonaDefinition["context"] = []) =>
  files.map((file) => ({ ...file, name: file.path }));

/** Texts that are too long to show in a sentence. */
const longKeys = new Set(["description", "instructions", "command"]);

function keyChanges(keys: Keys, before: object, after: object, prefix = ""): readonly string[] {
  const [old, now] = [before, after] as Readonly<Record<string, unknown>>[];
  return Object.keys(keys).flatMap((name) =>
    changed(prefix + name, old?.[name], now?.[name], { isLong: longKeys.has(name) }),
  );
}

function workChanges(before: WorkDefinition, after: WorkDefinition): readonly string[] {
  if (before.kind === "model" && after.kind === "model")
    return keyChanges({ instructions, ...modelKeys }, before, after);
  if (before.kind === "command" && after.kind === "command")
    return keyChanges(
      { command, ...agentKeys, model, instructions, ...commandKeys },
      { ...before, ...commandOf(before) },
      { ...after, ...commandOf(after) },
    );
  return before.kind === after.kind ? [] : [`work changed from a ${before.kind} to a ${after.kind}`];
}

type CommandWork = Extract<WorkDefinition, { readonly kind: "command" }>;

const commandOf = ({ agent, argv }: CommandWork) =>
  agent === undefined ? { command: argv } : { ...agent, agent: agent.name };

const { instructions, command, model } = personaSection.keys;

function namedChanges(
  what: string,
  before: readonly { readonly name: string }[],
  after: readonly { readonly name: string }[],
): readonly string[] {
  const old = new Map(before.map((one) => [one.name, one]));
  const now = new Map(after.map((one) => [one.name, one]));
  return [
    ...after.flatMap((one) => {
      const other = old.get(one.name);
      if (other === undefined) return [`${what} ${one.name} was added`];
      return isSame(other, one) ? [] : [`${what} ${one.name} changed`];
    }),
    ...before.filter(({ name }) => !now.has(name)).map(({ name }) => `${what} ${name} was removed`),
  ];
}

interface Showing {
  /** Too long to show, so the sentence only says that it changed. */
  readonly isLong?: boolean;
}

function changed(
  label: string,
  before: unknown,
  after: unknown,
  { isLong = false }: Showing = {},
): readonly string[] {
  if (isSame(before, after)) return [];
  if (isLong && (before ?? null) === null) return [`${label} was added`];
  if (isLong && (after ?? null) === null) return [`${label} was removed`];
  return isLong ? [`${label} changed`] : [`${label} changed from ${show(before)} to ${show(after)}`];
}

const isSame = (before: unknown, after: unknown): boolean =>
  canonicalJson((before ?? null) as Json) === canonicalJson((after ?? null) as Json);

const longest = 80;

function show(value: unknown): string {
  const text = redact(plain(value));
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return "unset";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${(value as readonly unknown[]).map(plain).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, member]) => `${key} ${typeof member === "object" ? plain(member) : String(member)}`)
    .join(", ");
}
