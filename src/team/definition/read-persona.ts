import { emptyContract } from "../../domain/contract.ts";
import { isName, nameRule } from "../../domain/names.ts";
import { Fields } from "./fields.ts";
import { onOrOff, wholeNumber, word } from "./kinds.ts";
import type { Place } from "./place.ts";
import { readBudget } from "./read-budget.ts";
import { readContract } from "./read-contract.ts";
import { readPolicy } from "./read-policy.ts";
import { type Form, readWork } from "./read-work.ts";
import type { PersonaDefinition } from "./team-definition.ts";

const fileKeys = [
  "instructions",
  "model",
  "fallbackModels",
  "tools",
  "command",
  "consumes",
  "contract",
  "budget",
  "maxAttempts",
  "timeoutMs",
  "healing",
  "policy",
  "maxSteps",
  "maxTimeMs",
  "maxOutputTokens",
  "temperature",
  "reserve",
  "network",
  "env",
  "readable",
  "writable",
];

const hints = {
  deliverables: "Write contract.deliverables instead.",
  outputs: "Write contract.outputs instead.",
  checks: "Write contract.checks instead.",
  write: "Write policy.write instead.",
  prompt: "Write instructions instead.",
  dependsOn: "Write consumes instead, or dependsOn in the phase.",
  gate: "Write it in the phase.",
  review: "Write it in the phase.",
};

/** A persona's own definition, as far as it can be read without the rest of the team. */
export function readPersona(name: string, value: unknown, place: Place, form: Form): PersonaDefinition {
  if (!isName(name)) place.remark(`the name is not allowed. ${nameRule}`, "key");
  const fields = Fields.of(value, place, {
    allowed: form === "file" ? "an object with instructions or a command" : "the result of persona(...)",
    // A file may not have `run` either, but that deserves a sentence of its own.
    keys: form === "file" ? [...fileKeys, "run"] : ["name", "run", ...fileKeys],
    hints,
  });
  if (fields === undefined) return unreadable(name);
  const work = readWork(fields, form);
  const contract = readContract(fields);
  return {
    name,
    work: work ?? { kind: "function" },
    consumes: fields.set("consumes", word("the name of a persona"), "a list of names of personas") ?? null,
    contract,
    budget: readBudget(fields, "budget"),
    maxAttempts: fields.read("maxAttempts", wholeNumber(1, 20)) ?? null,
    timeoutMs: fields.read("timeoutMs", wholeNumber(1, 86_400_000)) ?? null,
    healing: fields.read("healing", onOrOff) ?? true,
    policy: readPolicy(fields, contract, work),
  };
}

/** Stands for what could not be read, so that the rest can still be judged. */
const unreadable = (name: string): PersonaDefinition => ({
  name,
  work: { kind: "function" },
  consumes: null,
  contract: emptyContract,
  budget: null,
  maxAttempts: null,
  timeoutMs: null,
  healing: true,
  policy: { write: null, checks: null, tools: null },
});
