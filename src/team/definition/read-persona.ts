import { type Contract, emptyContract } from "../../domain/contract.ts";
import { isName, nameRule } from "../../domain/names.ts";
import { type AgentName, agentVariables } from "../../personas/command/agent.ts";
import { parseRule, wildcard } from "../../personas/tools/approval-rules.ts";
import {
  builtInNames,
  ownNames,
  serverPatterns,
  type ToolChoice,
} from "../../personas/tools/offered-tools.ts";
import { namedTools } from "../../personas/tools/tool-table.ts";
import { Fields, type Values } from "./fields.ts";
import { writtenModelName } from "./model-name.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";
import type { PersonaDefinition, PolicyDefinition, WorkDefinition } from "./team-definition.ts";
import {
  commandKeys,
  guidanceKeys,
  modelKeys,
  personaKeys,
  personaSection,
  toolKeys,
  workKeys,
} from "./team-keys.ts";

/** `file`: YAML or JSON, which cannot hold code. */
export type Form = "module" | "file";

type PersonaFields = Fields<typeof personaSection.keys>;

/** A persona's own definition, as far as it can be read without the rest of the team. */
export function readPersona(name: string, value: unknown, place: Place, form: Form): PersonaDefinition {
  if (!isName(name)) place.remark(`the name is not allowed. ${nameRule}`, "key");
  const inFile = form === "file";
  // `run` is known in a file too, because it gets a better error than an unknown key.
  const known = [...Object.keys(personaSection.keys), "run", ...(inFile ? [] : ["name"])];
  const allowed = inFile ? personaSection.allowed : "the result of persona(...)";
  const fields = Fields.of(value, place, { ...personaSection, allowed }, known);
  if (fields === undefined) return unreadable(name);
  const work = readWork(fields, form);
  const common = fields.all(personaKeys) ?? unreadable(name);
  const readsOnly = work?.kind === "command" && work.agent?.permissions === "read";
  const policy = readsOnly && common.policy.write === null ? { ...common.policy, write: [] } : common.policy;
  checkPolicy(fields, policy, common.contract, work);
  const having = fields.all(toolKeys);
  const guided = fields.all(guidanceKeys);
  checkToolKeys(fields, having);
  return { ...common, policy, ...having, ...guided, name, work: work ?? { kind: "function" } };
}

/** Replaces an unreadable persona, so that the rest of the team can still be checked. */
const unreadable = (name: string): PersonaDefinition => ({
  name,
  work: { kind: "function" },
  consumes: null,
  contract: emptyContract,
  budget: null,
  maxAttempts: null,
  timeoutMs: null,
  healing: true,
  mayChange: [],
  policy: { read: null, write: null, checks: null },
});

/** The keys that decide the kind of work. */
const kindKeys = ["run", "agent", "command", "instructions", "model"];
const kinds: ReadonlyMap<string, WorkDefinition["kind"]> = new Map([
  ["run", "function"],
  ["agent", "command"],
  ["agent and instructions", "command"],
  ["agent and model", "command"],
  ["agent and instructions and model", "command"],
  ["command", "command"],
  ["command and instructions", "command"],
  ["instructions", "model"],
  ["instructions and model", "model"],
]);

/** Exactly one of `run`, `command`, and `instructions` for a model; undefined after a problem. */
function readWork(fields: PersonaFields, form: Form): WorkDefinition | undefined {
  const kind = kindOf(fields, form);
  for (const only of ["model", "command"] as const) {
    if (kind === undefined || kind === only) continue;
    for (const key of Object.keys(workKeys[only]))
      if (key !== "model" || !fields.has("agent")) reportNoEffect(fields, key, kind);
  }
  if (kind !== undefined && !fields.has("agent")) reportNoEffect(fields, "permissions", kind);
  if (kind === "command") for (const key of Object.keys(toolKeys)) reportNoEffect(fields, key, kind);
  if (kind === "function") for (const key of Object.keys(guidanceKeys)) reportNoEffect(fields, key, kind);
  if (kind === "command") {
    const agent = fields.read("agent");
    if (agent !== undefined) return readAgent(fields, agent);
    return {
      kind,
      argv: fields.read("command") ?? [],
      instructions: fields.read("instructions") ?? null,
      ...fields.all(commandKeys),
    };
  }
  return kind === "model" ? readModel(fields) : kind === "function" ? { kind } : undefined;
}

function readAgent(fields: PersonaFields, name: AgentName): WorkDefinition {
  const values = fields.all(commandKeys);
  return {
    kind: "command",
    argv: [name],
    agent: { name, model: fields.read("model") ?? null, permissions: fields.read("permissions") ?? "edit" },
    instructions: fields.read("instructions") ?? null,
    ...values,
    env: fields.has("env") ? values.env : agentVariables[name],
  };
}

function reportNoEffect(fields: Fields, key: string, kind: WorkDefinition["kind"]): void {
  if (fields.has(key)) fields.place.at(key).problem(`has no effect: the work is a ${kind}.`, "key");
}

function kindOf(fields: PersonaFields, form: Form): WorkDefinition["kind"] | undefined {
  const { place } = fields;
  const written = kindKeys.filter((key) => fields.has(key)).join(" and ");
  const kind = kinds.get(written);
  const ways = `instructions for a model${form === "file" ? ", an agent, or a command" : ', an agent, a command, or a function "run"'}`;
  if (form === "file" && fields.has("run")) {
    place.at("run").problem(`is for teams in TypeScript or JavaScript: give it ${ways}.`, "key");
    return undefined;
  }
  if (kind === "function") return isFunction(fields) ? kind : undefined;
  if (kind !== undefined) return kind;
  if (written === "") {
    if (kindKeys.every((key) => fields.lacks(key))) place.problem(`has no work: give it ${ways}.`);
  } else if (written === "model") {
    if (fields.lacks("instructions")) place.problem("has a model and no instructions for it.");
  } else {
    place.problem(`has more than one kind of work, ${written}: keep one.`);
  }
  return undefined;
}

function isFunction(fields: PersonaFields): boolean {
  const runs = typeof fields.value("run") === "function";
  if (!runs) fields.place.at("run").problem("is not a function.");
  return runs;
}

function readModel(fields: PersonaFields): WorkDefinition {
  const instructions = fields.read("instructions") ?? "";
  const work = { kind: "model", instructions, ...fields.all(modelKeys) } as const;
  const written = fields.value("fallbackModels");
  const tried = new Set([writtenModelName(fields.value("model"))]);
  const models = Array.isArray(written) ? (written as readonly unknown[]).map(writtenModelName) : [];
  for (const [index, model] of models.entries()) {
    const isRepeated = tried.has(model) && work.fallbackModels.some((known) => known === model);
    const place = fields.place.at("fallbackModels").at(index);
    if (isRepeated) place.problem(`is ${shown(model)}, which was tried before it.`);
    tried.add(model);
  }
  return work;
}

function checkPolicy(
  persona: PersonaFields,
  policy: PolicyDefinition,
  contract: Contract,
  work: WorkDefinition | undefined,
): void {
  const place = persona.place.at("policy").at("checks");
  if (policy.checks !== null && work?.kind === "command")
    place.problem(`has no effect: the work is a ${work.kind}.`, "key");
  checkCheckNames(policy.checks ?? [], contract, place);
}

/** Settings for a tool that the persona does not have, and a tool without its required settings. */
function checkToolKeys(fields: PersonaFields, { tools, approve = [] }: Values<typeof toolKeys>): void {
  const { place } = fields;
  const { skill } = namedTools;
  if (builtInNames(tools).includes(skill) && !fields.has("skills"))
    place.at("tools").problem(`names ${skill}, and the persona has no skills.`);
  if (fields.has("shell") && !builtInNames(tools).includes(namedTools.command))
    place.at("shell").problem(`has no effect: tools does not name ${namedTools.command}.`, "key");
  if (fields.has("web") && !builtInNames(tools).includes(namedTools.fetch))
    place.at("web").problem(`has no effect: tools does not name ${namedTools.fetch}.`, "key");
  checkApprovals(approve, tools, place.at("approve"));
}

/** A rule that matches no tool would let every call pass. Tools of servers are known only when the session runs. */
function checkApprovals(approve: readonly string[], tools: ToolChoice | undefined, place: Place): void {
  const own = [...builtInNames(tools), ...ownNames(tools)].filter((name) => name !== namedTools.submit);
  const asked = own.filter((name) => name !== namedTools.ask);
  const servers = serverPatterns(tools).map((pattern) => pattern.split("/", 1)[0] ?? "");
  for (const rule of approve) {
    const { tool } = parseRule(rule);
    const matches = wildcard(tool);
    const [server = ""] = tool.split("/", 1);
    const isOfServer = servers.some((known) => (tool.includes("/") ? wildcard(server)(known) : tool === "*"));
    if (isOfServer || asked.some(matches)) continue;
    const why = own.some(matches)
      ? "asks a person anyway."
      : `is no tool of this persona.${place.problems.suggest(tool, asked)}`;
    place.problem(`names ${shown(rule)}, and ${shown(tool)} ${why}`);
  }
}

function checkCheckNames(names: readonly string[], { checks }: Contract, place: Place): void {
  const known = checks.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const hint = place.problems.suggest(name, known);
    place.problem(`names ${shown(name)}, and its contract has no such check.${hint}`);
  }
}
