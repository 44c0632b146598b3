import { canonicalJson } from "../../domain/canonical.ts";
import type { Json } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
  WorkDefinition,
} from "./team-definition.ts";

export function teamFieldChanges(before: TeamDefinition, after: TeamDefinition): readonly string[] {
  return [
    ...changed("name", before.name, after.name),
    ...changed("description", before.description, after.description, { isLong: true }),
    ...changed("model", before.model, after.model),
    ...changed("parallel", before.parallel, after.parallel),
    ...changed("budget", before.budget, after.budget),
    ...changed("blueprint", before.plan?.blueprint, after.plan?.blueprint),
  ];
}

export function phaseFieldChanges(before: PhaseDefinition, after: PhaseDefinition): readonly string[] {
  return [
    ...changed("dependsOn", before.dependsOn, after.dependsOn),
    ...changed("gate", before.gate, after.gate),
    ...changed("review", before.review, after.review),
    ...changed("budget", before.budget, after.budget),
  ];
}

export function personaFieldChanges(before: PersonaDefinition, after: PersonaDefinition): readonly string[] {
  return [
    ...workChanges(before.work, after.work),
    ...changed("consumes", before.consumes, after.consumes, { none: "everything" }),
    ...namedChanges("contract: deliverable", before.contract.deliverables, after.contract.deliverables),
    ...changed("contract: outputs", before.contract.outputs, after.contract.outputs, { isLong: true }),
    ...namedChanges("contract: check", before.contract.checks, after.contract.checks),
    ...changed("budget", before.budget, after.budget),
    ...changed("maxAttempts", before.maxAttempts, after.maxAttempts, { none: "the default" }),
    ...changed("timeoutMs", before.timeoutMs, after.timeoutMs, { none: "the default" }),
    ...changed("healing", before.healing, after.healing),
    ...changed("policy.write", before.policy.write, after.policy.write, { none: "everything" }),
    ...changed("policy.checks", before.policy.checks, after.policy.checks, { none: "all" }),
    ...changed("policy.tools", before.policy.tools, after.policy.tools, { none: "all" }),
  ];
}

function workChanges(before: WorkDefinition, after: WorkDefinition): readonly string[] {
  if (before.kind !== after.kind) return [`work changed from a ${before.kind} to a ${after.kind}`];
  const old: Readonly<Record<string, unknown>> = before;
  return Object.entries(after).flatMap(([key, value]) =>
    changed(key === "argv" ? "command" : key, old[key], value, {
      isLong: key === "instructions" || key === "argv",
    }),
  );
}

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
  /** Too long to be shown: only that it changed. */
  readonly isLong?: boolean;
  /** What `null` means. */
  readonly none?: string;
}

function changed(
  label: string,
  before: unknown,
  after: unknown,
  { isLong = false, none = "none" }: Showing = {},
): readonly string[] {
  if (isSame(before, after)) return [];
  if (isLong && (before ?? null) === null) return [`${label} was added`];
  if (isLong && (after ?? null) === null) return [`${label} was removed`];
  return isLong
    ? [`${label} changed`]
    : [`${label} changed from ${show(before, none)} to ${show(after, none)}`];
}

const isSame = (before: unknown, after: unknown): boolean =>
  canonicalJson((before ?? null) as Json) === canonicalJson((after ?? null) as Json);

const longest = 80;

function show(value: unknown, none: string): string {
  const text = redact(plain(value, none));
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function plain(value: unknown, none: string): string {
  if (value === null || value === undefined) return none;
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, member]) => `${key} ${String(member)}`)
    .join(", ");
}
