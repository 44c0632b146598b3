import { canonicalJson } from "../../domain/canonical.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import * as is from "../../journal/schema.ts";
import { teamFingerprint } from "./fingerprint.ts";
import { Problems } from "./place.ts";
import { readTeam } from "./read-team.ts";
import { recordedDefinition } from "./recorded.ts";
import { definitionJson, type PlanDefinition } from "./team-definition.ts";

const plan: is.Schema<PlanDefinition> = is.objectFor<PlanDefinition>({
  from: is.label,
  blueprint: is.label,
  parallelism: is.literal("few", "some", "many"),
  adds: is.optional(is.record(is.record(is.text))),
  leaves: is.optional(is.record(is.list(is.name))),
});

/**
 * Why this version would not have recorded a definition from outside; undefined if it would. The definition is
 * written as a team in code and read again: if the reader refuses or changes anything, this version did not record
 * it.
 */
export function recordedFault(recorded: Json, fingerprint: string): string | undefined {
  // Throws for a form without phases, personas and contracts.
  const definition = recordedDefinition(recorded);
  const { plan: chosen, ...team } = recorded as JsonObject;
  const planFault = chosen === undefined ? undefined : plan.check(chosen, "plan");
  if (planFault !== undefined) return `${planFault.path} ${planFault.problem}`;
  const problems = new Problems();
  const read = readTeam(asWritten(team), "module", problems);
  const [problem] = problems.found;
  if (problem !== undefined) return problem.sentence.replace(/\.$/, "");
  if (read === undefined || canonicalJson(definitionJson(read)) !== canonicalJson(team))
    return "it has values that no team file has";
  if (teamFingerprint(definition) !== fingerprint) return "its fingerprint is that of another team";
  return undefined;
}

/** A null in a definition means that the key was not written. */
function asWritten({ phases, ...team }: JsonObject): object {
  return {
    ...written(team),
    phases: objectsIn(phases).map(({ personas, ...phase }) => ({
      ...written(phase),
      personas: objectsIn(personas).map(writtenPersona),
    })),
  };
}

function writtenPersona({ work, policy, contract, tools, ...persona }: JsonObject): object {
  const common = {
    ...written(persona),
    ...(tools !== undefined && { tools: writtenTools(tools) }),
    policy: isJsonObject(policy) ? written(policy) : policy,
    contract: isJsonObject(contract) ? writtenContract(contract) : contract,
  };
  if (!isJsonObject(work)) return common;
  const { kind, argv, agent, ...rest } = work;
  if (kind === "function") return { ...common, ...rest, run: () => undefined };
  if (isJsonObject(agent)) {
    const { name, ...chosen } = agent;
    return { ...common, ...written(rest), ...written(chosen), ...(name !== undefined && { agent: name }) };
  }
  return { ...common, ...written(rest), ...(argv !== undefined && { command: argv }) };
}

/** Tools in a team's code are not recorded. Stand-ins prove only that their names are allowed. */
function writtenTools(tools: Json): unknown {
  if (!Array.isArray(tools)) return tools;
  const listed = tools as readonly Json[];
  if (listed.every((tool) => typeof tool === "string")) return listed;
  return Object.fromEntries(
    listed.map((tool) => {
      if (typeof tool === "string") return [tool, true];
      const { own, repeatable } = isJsonObject(tool) ? tool : {};
      return [typeof own === "string" ? own : "", { inputSchema: {}, execute: () => undefined, repeatable }];
    }),
  );
}

/** A deliverable named after its only file was written as that file, because no other gets such a name. */
function writtenContract({ deliverables, ...contract }: JsonObject): object {
  if (!Array.isArray(deliverables)) return { deliverables, ...contract };
  const shortened = (deliverables as readonly Json[]).map((deliverable) => {
    if (!isJsonObject(deliverable)) return deliverable;
    const { name } = deliverable;
    const short = { name, files: [name], must: true, weight: 1 } as unknown as JsonObject;
    return typeof name === "string" && canonicalJson(short) === canonicalJson(deliverable)
      ? name
      : deliverable;
  });
  return { ...contract, deliverables: shortened };
}

const written = (recorded: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(recorded).filter(([, value]) => value !== null));

const objectsIn = (list: Json | undefined): readonly JsonObject[] =>
  Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject) : [];
