import { canonicalJson } from "../../domain/canonical.ts";
import { toErrorJson } from "../../domain/error-to-json.ts";
import type { AttemptSettings, HealingAction } from "../../domain/healing-action.ts";
import type { Json } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import type { HealingCase, Remedy } from "./healer.ts";

type RaisedLimit = Extract<HealingAction, { kind: "raised-limit" }>["limit"];

/** A formatter may touch every file of a project; the healer's step has them all. */
const mostNamed = 50;
const maxWords = 500;

/** The action as it is recorded: short, within the limits of the team, and with the files that really changed. */
export function asRecorded(remedy: Remedy, sick: HealingCase, changed: readonly string[]): HealingAction {
  const { action } = remedy;
  if (typeof action === "string") return inOwnWords(action, remedy, sick, changed);
  switch (action.kind) {
    case "edited-files":
      return { kind: action.kind, paths: few(changed), ...moreOf(changed) };
    case "ran-tool":
      return { kind: action.kind, argv: action.argv, paths: few(changed), ...moreOf(changed) };
    case "installed-dependency": {
      const { kind, name, version } = action;
      return { kind, name, version, paths: few(changed), ...moreOf(changed) };
    }
    case "fixed-imports":
      return { kind: action.kind, imports: few(action.imports), ...moreOf(action.imports) };
    case "repaired-outputs": {
      const members = membersOf(remedy, sick);
      return { kind: action.kind, members: few(members), ...moreOf(members) };
    }
    case "raised-limit":
      return { ...action, to: Math.min(action.to, mostOf(action.limit, sick) ?? action.to) };
    case "custom":
      return inOwnWords(action.words, { ...remedy, ...withSettings(action.settings?.to) }, sick, changed);
    case "shortened-context":
    case "switched-model":
      return action;
    default:
      // A healer without types may return anything.
      return inOwnWords(String((action as { readonly kind?: unknown }).kind), remedy, sick, changed);
  }
}

/** The action of a healer that failed or gave an invalid answer. */
export function failedAction(error: unknown, changed: readonly string[]): HealingAction {
  const words = `failed: ${redact(toErrorJson(error).message).slice(0, maxWords)}`;
  return { kind: "custom", words, members: [], paths: few(changed), ...moreOf(changed) };
}

/** The members of the outputs whose values differ. */
export function changedMembers(
  before: Readonly<Record<string, Json>>,
  after: Readonly<Record<string, Json>>,
): string[] {
  const textOf = (value: Json | undefined): string => (value === undefined ? "" : canonicalJson(value));
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => textOf(before[name]) !== textOf(after[name]));
}

function inOwnWords(
  words: string,
  remedy: Remedy,
  sick: HealingCase,
  changed: readonly string[],
): HealingAction {
  const members = few(membersOf(remedy, sick));
  const action = { kind: "custom", words, members, paths: few(changed), ...moreOf(changed) } as const;
  if (remedy.settings === undefined) return action;
  return { ...action, settings: changeOfSettings(remedy.settings, sick) };
}

const membersOf = ({ outputs }: Remedy, { result }: HealingCase): string[] =>
  outputs === undefined || result === undefined ? [] : changedMembers(result.outputs, outputs);

function changeOfSettings(settings: AttemptSettings, sick: HealingCase) {
  const capped: Record<string, number> = {};
  for (const limit of ["timeoutMs", "maxOutputTokens"] as const) {
    const asked = settings[limit];
    if (asked !== undefined) capped[limit] = Math.min(asked, mostOf(limit, sick) ?? asked);
  }
  return { from: sick.settings, to: { ...settings, ...capped } };
}

/** Undefined where the team sets no limit. */
const mostOf = (limit: RaisedLimit, { maxTimeoutMs, outputTokens }: HealingCase): number | undefined =>
  limit === "timeoutMs" ? maxTimeoutMs : outputTokens?.most;

const withSettings = (settings: AttemptSettings | undefined) => settings !== undefined && { settings };

const few = <Item>(items: readonly Item[]): readonly Item[] => items.slice(0, mostNamed);

const moreOf = ({ length }: readonly unknown[]) => length > mostNamed && { more: length - mostNamed };
