import { readFile, stat } from "node:fs/promises";
import { ConfigInvalid } from "../../../domain/errors.ts";
import { type Json, toJsonText } from "../../../domain/json.ts";
import { parseScript, type SimulatedScript } from "./script.ts";

const maxFileBytes = 4 * 1024 * 1024;

/** A script from a YAML or JSON file. */
export async function loadScript(file: string): Promise<SimulatedScript> {
  const text = await read(file);
  const { parse } = await import("yaml");
  let value: Json;
  try {
    value = parse(text, { maxAliasCount: 100 }) as Json;
    // Aliases may have made a small file large.
    toJsonText(value, { what: file, maxDepth: 64 });
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new ConfigInvalid(`${file} cannot be read as YAML: ${reason}`, {
      details: { file },
      cause,
      advice: "Correct the file; MAESTRO_SIMULATED_SCRIPT names it.",
    });
  }
  return parseScript(value, file);
}

async function read(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size <= maxFileBytes) return await readFile(file, "utf8");
  } catch (cause) {
    throw new ConfigInvalid(`The script ${file} of the simulated model cannot be read.`, {
      advice: "Check the path.",
      details: { file },
      cause,
    });
  }
  throw new ConfigInvalid(`The script ${file} is larger than ${maxFileBytes} bytes.`, { details: { file } });
}
