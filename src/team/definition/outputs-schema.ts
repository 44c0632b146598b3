import { InputInvalid } from "../../domain/errors.ts";
import { type Json, type JsonObject, parseJson, toJsonText } from "../../domain/json.ts";
import type { Kind } from "./kinds.ts";
import { definitionLimits } from "./limits.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

/**
 * The JSON Schema of a persona's outputs. The definition gets a copy, because the original may change later or may
 * not be JSON.
 */
export const outputsSchema: Kind<JsonObject> = {
  allowed: "a JSON Schema of an object",
  schema: { type: "object", properties: { type: { const: "object" } } },
  read: (value, place) => {
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
  },
};

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
