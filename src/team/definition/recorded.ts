import { JournalCorrupt } from "../../domain/errors.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import type { TeamDefinition } from "./team-definition.ts";

/**
 * The definition that a session was started with. The journal's hash chain protects its content, and its form is
 * checked.
 */
export function recordedDefinition(recorded: Json): TeamDefinition {
  if (isDefinition(recorded)) return recorded as unknown as TeamDefinition;
  throw new JournalCorrupt(
    "The recorded definition of the team has a form that this version does not know.",
    {
      advice: "Resume it with the version of Maestro that started it, or start a new session.",
    },
  );
}

function isDefinition(value: Json): boolean {
  return (
    isJsonObject(value) &&
    typeof value["name"] === "string" &&
    every(value["protect"], isText) &&
    every(value["phases"], isPhase)
  );
}

const isText = (value: Json): boolean => typeof value === "string";

const isPhase = (value: Json): boolean =>
  isJsonObject(value) &&
  typeof value["name"] === "string" &&
  every(value["dependsOn"], isText) &&
  every(value["personas"], isPersona);

const isPersona = (value: Json): boolean =>
  isJsonObject(value) &&
  typeof value["name"] === "string" &&
  hasKind(value["work"]) &&
  isContract(value["contract"]) &&
  every(value["mayChange"], isText) &&
  isJsonObject(value["policy"]);

const workKinds: readonly unknown[] = ["function", "model", "command"];

const hasKind = (work: Json | undefined): boolean => isJsonObject(work) && workKinds.includes(work["kind"]);

const isContract = (contract: Json | undefined): boolean =>
  isJsonObject(contract) && Array.isArray(contract["deliverables"]) && Array.isArray(contract["checks"]);

const every = (list: Json | undefined, test: (item: Json) => boolean): boolean =>
  Array.isArray(list) && (list as readonly Json[]).every(test);
