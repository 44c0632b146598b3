import { type Check, type Contract, type Deliverable, emptyContract } from "../../domain/contract.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { type Json, type JsonObject, parseJson, toJsonText } from "../../domain/json.ts";
import { Fields } from "./fields.ts";
import { glob, name, numberBetween, wholeNumber, yesOrNo } from "./kinds.ts";
import type { Place } from "./place.ts";
import { readArgv } from "./read-work.ts";
import { shown } from "./shown.ts";
import { definitionLimits } from "./team-definition.ts";

const shapes = {
  contract: {
    allowed: "an object with deliverables, outputs and checks",
    keys: ["deliverables", "outputs", "checks"],
  },
  deliverable: {
    allowed: "a glob, or an object with name and files",
    keys: ["name", "files", "must", "weight"],
  },
  check: {
    allowed: "an object with name and run",
    keys: ["name", "run", "must", "weight", "timeoutMs"],
    hints: { command: "Write run instead." },
  },
};

const weight = numberBetween(0, 1_000_000);

export function readContract(owner: Fields): Contract {
  if (!owner.has("contract")) return emptyContract;
  const fields = Fields.of(owner.value("contract"), owner.place.at("contract"), shapes.contract);
  if (fields === undefined) return emptyContract;
  const deliverables = (fields.items("deliverables", "a list of deliverables") ?? []).flatMap(
    readDeliverable,
  );
  const checks = (fields.items("checks", "a list of checks") ?? []).flatMap(readCheck);
  reportTwice(fields.place.at("deliverables"), deliverables);
  reportTwice(fields.place.at("checks"), checks);
  const outputs = readSchema(fields);
  return { deliverables, ...(outputs !== undefined && { outputs }), checks };
}

function readDeliverable([item, place]: readonly [unknown, Place]): readonly Deliverable[] {
  if (typeof item === "string") {
    const file = glob.read(item);
    if (file !== undefined) return [{ name: file, files: [file], must: true, weight: 1 }];
    place.problem(`is ${shown(item)}; it must be ${glob.allowed}.`);
    return [];
  }
  const fields = Fields.of(item, place, shapes.deliverable);
  const called = fields?.required("name", name);
  const files = fields?.list("files", glob, "a list of globs");
  if (fields?.isEmpty("files")) fields.place.problem("has no files: name at least one.");
  if (fields === undefined || called === undefined || files === undefined) return [];
  return [{ name: called, files, ...readJudgment(fields) }];
}

function readCheck([item, place]: readonly [unknown, Place]): readonly Check[] {
  const fields = Fields.of(item, place, shapes.check);
  if (fields === undefined) return [];
  const called = fields.required("name", name);
  if (fields.lacks("run")) place.problem('has no "run": program and arguments.');
  const run = readArgv(fields, "run");
  const timeoutMs = fields.read("timeoutMs", wholeNumber(1, 86_400_000));
  const judgment = readJudgment(fields);
  if (called === undefined) return [];
  return [{ name: called, run, ...judgment, ...(timeoutMs !== undefined && { timeoutMs }) }];
}

function readJudgment(fields: Fields): Pick<Check, "must" | "weight"> {
  return { must: fields.read("must", yesOrNo) ?? true, weight: fields.read("weight", weight) ?? 1 };
}

function reportTwice(place: Place, named: readonly { readonly name: string }[]): void {
  const seen = new Set<string>();
  for (const { name } of named) {
    if (seen.has(name)) place.problem(`has "${name}" twice.`);
    seen.add(name);
  }
}

/** A copy that is plain data: what was given may be shared, change later, or be no JSON at all. */
function readSchema(contract: Fields): JsonObject | undefined {
  if (!contract.has("outputs")) return undefined;
  const value = contract.value("outputs");
  const place = contract.place.at("outputs");
  if (typeof value === "object" && value !== null && "~standard" in value) {
    place.problem("is a schema of a library; it must be JSON Schema as plain data.");
    return undefined;
  }
  const schema = plainCopy(value, place);
  if (schema === undefined) return undefined;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    place.problem("must be a JSON Schema: an object.");
    return undefined;
  }
  const { type } = schema as JsonObject;
  if (type !== undefined && type !== "object") {
    place.at("type").problem(`is ${shown(type)}; outputs are always an object: "object".`);
  }
  return schema as JsonObject;
}

function plainCopy(value: unknown, place: Place): Json | undefined {
  const limits = { maxBytes: definitionLimits.schemaBytes, maxDepth: definitionLimits.schemaDepth };
  try {
    return parseJson(toJsonText(value, { ...limits, what: "it" }), {
      ...limits,
      what: "it",
      refuseProto: true,
    });
  } catch (error) {
    if (!InputInvalid.is(error)) throw error;
    place.remark(`${error.message}.`);
    return undefined;
  }
}
