import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { namedTools } from "../../tools/tool-table.ts";
import { type Asking, readDeliverables } from "../prompt.ts";
import type { CallOptions } from "../sdk-types.ts";
import type { SimulatedTurn } from "./script.ts";

export const simulatedMark = "(simulated)";

/** Without a script the simulated model writes the files of the contract, then submits. */
export function defaultTurns(asking: Asking, options: CallOptions): SimulatedTurn[] {
  if (options.tools?.some(({ name }) => name === namedTools.write) !== true) return [];
  const paths = [...new Set(readDeliverables(promptText(options)).map(pathFor))];
  const calls = paths.map((path) => ({
    tool: namedTools.write,
    input: { path, content: contentFor(path, asking) },
  }));
  const writing: SimulatedTurn = { text: "Writing what the contract asks for.", calls };
  return calls.length === 0 ? [] : [writing];
}

export function submitTurn({ persona, phase }: Asking, options: CallOptions): SimulatedTurn {
  const summary = `${simulatedMark} ${persona} did its part of phase ${phase}.`;
  const outputs = sample(outputsSchema(options), 0);
  return {
    calls: [{ tool: namedTools.submit, input: { summary, ...(isJsonObject(outputs) && { outputs }) } }],
  };
}

/** A file that the glob matches. */
function pathFor(glob: string): string {
  return glob
    .replace(/\*\*\//g, "")
    .replace(/\{([^,{}]*)[^{}]*\}/g, "$1")
    .replace(/\[([^\]^!])[^\]]*\]/g, "$1")
    .replace(/\*+/g, "simulated")
    .replace(/\?/g, "x")
    .replace(/\/$/, "/simulated");
}

function contentFor(path: string, { persona, phase, attempt }: Asking): string {
  const said = `Simulated content: written by the simulated model as ${persona} in phase ${phase}, attempt ${attempt}.`;
  const [extension = ""] = /[^./]+$/.exec(path) ?? [];
  if (extension === "md") return `# Simulated ${path}\n\n${said}\n`;
  if (extension === "json") return `${JSON.stringify({ simulated: said })}\n`;
  if (["py", "sh", "yaml", "yml", "toml", "rb"].includes(extension)) return `# ${said}\n`;
  if (["ts", "js", "mjs", "tsx", "jsx", "css", "go", "rs", "java", "c"].includes(extension))
    return `/* ${said} */\n`;
  return `${said}\n`;
}

const promptText = ({ prompt }: CallOptions): string =>
  prompt
    .flatMap(({ role, content }) =>
      role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
    )
    .join("\n");

function outputsSchema({ tools }: CallOptions): Json {
  const submit = tools?.find(({ name }) => name === namedTools.submit);
  const schema = submit?.type === "function" ? (submit.inputSchema as Json) : null;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return (isJsonObject(properties) ? properties["outputs"] : undefined) ?? {};
}

/** Something that fits a JSON Schema; for the plain ones that teams write. */
function sample(schema: Json, depth: number): Json {
  if (!isJsonObject(schema) || depth > 16) return null;
  if (schema["const"] !== undefined) return schema["const"];
  if (schema["default"] !== undefined) return schema["default"];
  for (const key of ["enum", "examples"]) {
    const values = schema[key];
    if (Array.isArray(values) && values.length > 0) return values[0] as Json;
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const choices = schema[key];
    if (Array.isArray(choices) && choices.length > 0) return sample(choices[0] as Json, depth + 1);
  }
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "string") return "simulated".padEnd(Math.min(countOf(schema["minLength"], 0), 10_000), ".");
  if (type === "integer" || type === "number") return countOf(schema["minimum"], 1);
  if (type === "boolean") return true;
  if (type === "array") {
    const length = Math.min(countOf(schema["minItems"], 0), 100);
    return Array.from({ length }, () => sample(schema["items"] ?? {}, depth + 1));
  }
  return type === "null" ? null : sampleObject(schema, depth);
}

function sampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly string[]) : [];
  return Object.fromEntries(required.map((key) => [key, sample(properties[key] ?? {}, depth + 1)]));
}

const countOf = (value: Json | undefined, otherwise: number): number =>
  typeof value === "number" && Number.isFinite(value) ? value : otherwise;
