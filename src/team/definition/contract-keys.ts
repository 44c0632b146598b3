import { checkLimits, type Must } from "../../domain/contract.ts";
import { namedTools } from "../../personas/tools/tool-table.ts";
import {
  Fields,
  type Options,
  object,
  optional,
  required,
  section,
  type Values,
  withDefault,
} from "./fields.ts";
import {
  commandLine,
  glob,
  type Kind,
  list,
  name,
  namedList,
  numberBetween,
  oneOf,
  reference,
  set,
  uniqueVariables,
  wholeNumber,
  yesOrNo,
} from "./kinds.ts";
import { outputsSchema } from "./outputs-schema.ts";
import { shown } from "./shown.ts";

// The keys of budget, gate, contract and policy. team-keys.ts has the others.

export const budgetSection = section({
  name: "budget",
  sentence: "A limit in tokens, in dollars, or in both.",
  allowed: "an object with tokens, usd, or both",
  schema: { minProperties: 1 },
  keys: {
    tokens: optional(wholeNumber(1, Number.MAX_SAFE_INTEGER), {
      sentence: "Input and output tokens together.",
      example: 40_000,
      otherwise: "no limit",
    }),
    // The ledger counts whole micro-dollars, so a smaller or a too large amount cannot be recorded.
    usd: optional(
      numberBetween(0.000_001, 1_000_000_000, "a number of dollars, from 0.000001 to 1000000000"),
      { sentence: "US dollars.", example: 0.5, otherwise: "no limit" },
    ),
  },
});

export type BudgetDefinition = Values<typeof budgetSection.keys>;

export const budget: Kind<BudgetDefinition> = {
  ...object(budgetSection),
  read: (value, place) => {
    const fields = Fields.of(value, place, budgetSection);
    if (fields === undefined) return undefined;
    if (fields.has("tokens") || fields.has("usd")) return fields.all(budgetSection.keys);
    place.problem("sets no limit: give it tokens, usd, or both.");
    return undefined;
  },
};

export const gateSection = section({
  name: "gate",
  sentence: "The long form of `gate`.",
  allowed: "a number from 0 to 1, or an object with threshold and onFail",
  keys: {
    threshold: required(numberBetween(0, 1, "a number from 0 to 1, such as 0.75"), {
      sentence: "The share of the phase's check weight that must pass.",
      example: 0.75,
    }),
    onFail: withDefault(oneOf("review", "warn"), "review", {
      sentence:
        "Below the threshold: `review` parks the session for a person, `warn` records it and continues.",
      example: "warn",
    }),
  },
});

export type GateDefinition = Values<typeof gateSection.keys>;

export const gate: Kind<GateDefinition, number | Options<typeof gateSection.keys>> = {
  allowed: gateSection.allowed,
  schema: { anyOf: [gateSection.keys.threshold.kind.schema, object(gateSection).schema] },
  read: (value, place) => {
    if (typeof value === "object" && value !== null) return object(gateSection).read(value, place);
    const threshold = gateSection.keys.threshold.kind.read(value, place);
    return threshold === undefined ? undefined : { threshold, onFail: "review" };
  },
};

const judgmentKeys = {
  must: withDefault(yesOrNo, true, {
    sentence: "`true` fails the attempt when it is not met; `false` only lowers the gate's score.",
    example: false,
  }),
  weight: withDefault(numberBetween(0, 1_000_000), 1, {
    sentence: "Its share in the gate's score.",
    example: 2,
  }),
};

export const deliverableSection = section({
  name: "deliverable",
  sentence:
    "Files that must exist when the persona is done. A glob alone is short for a deliverable of that name.",
  allowed: "a glob, or an object with name and files",
  keys: {
    name: required(name, { sentence: "Its name in results and messages.", example: "requirements" }),
    files: required(list(glob, { allowed: "a list of globs" }), {
      sentence:
        "Globs; each must match a file that is not empty. A glob that begins with `!` leaves its files out of the others.",
      example: ["docs/requirements.md"],
      missing: "has no files: name at least one.",
      orEmpty: true,
    }),
    ...judgmentKeys,
  },
});

const deliverable: Kind<
  Values<typeof deliverableSection.keys>,
  string | Options<typeof deliverableSection.keys>
> = {
  allowed: deliverableSection.allowed,
  schema: { anyOf: [glob.schema, object(deliverableSection).schema] },
  read: (value, place) => {
    if (typeof value !== "string") return object(deliverableSection).read(value, place);
    const file = glob.read(value, place);
    return file === undefined ? undefined : { name: file, files: [file], must: true, weight: 1 };
  },
};

const must: Kind<Must> = {
  allowed: "true, false or no-worse",
  schema: { enum: [true, false, "no-worse"] },
  read: (value, place) => {
    if (typeof value === "boolean" || value === "no-worse") return value;
    place.problem(`is ${shown(value)}; it must be true, false or no-worse.`);
    return undefined;
  },
};

export const checkSection = section({
  name: "check",
  sentence:
    "A command that judges the files: it passes when it ends with 0 and, where it runs tests, ran some.",
  allowed: "an object with name and run",
  hints: { command: "Write run instead." },
  keys: {
    name: required(name, {
      sentence: `Its name in results and for \`${namedTools.check}\`.`,
      example: "has-title",
    }),
    run: required(commandLine, {
      sentence: "The program and its arguments. There is no shell.",
      example: ["grep", "-q", "^# ", "docs/requirements.md"],
      missing: 'has no "run": program and arguments.',
    }),
    must: withDefault(must, true, {
      sentence:
        "`true` fails the attempt when it is not met; `false` only lowers the gate's score. `no-worse` is met when no test that passed before the session began fails or is missing; without a repository it means `true`.",
      example: "no-worse",
    }),
    weight: judgmentKeys.weight,
    minTests: optional(wholeNumber(0, 1_000_000), {
      sentence: "How many tests must run. A check that ran fewer does not pass.",
      example: 10,
      otherwise: "1 where the output tells the number of tests; else not asked for",
    }),
    env: optional(uniqueVariables, {
      sentence: "Names of environment variables that are passed through. Values come from the environment.",
      example: ["DATABASE_URL"],
      otherwise: "none",
    }),
    timeoutMs: optional(wholeNumber(1, 86_400_000), {
      sentence: "The time after which the check is stopped and fails.",
      example: 120_000,
      otherwise: `${checkLimits.timeoutMs}`,
    }),
  },
});

export const contractSection = section({
  name: "contract",
  sentence: "The deliverables and checks of a persona. All of them are checked after every attempt.",
  allowed: "an object with deliverables, outputs and checks",
  keys: {
    deliverables: withDefault(namedList(deliverable, { allowed: "a list of deliverables" }), [], {
      sentence: "Files that must exist.",
      example: [{ name: "requirements", files: ["docs/requirements.md"] }],
      otherwise: "none",
    }),
    outputs: optional(outputsSchema, {
      sentence: "The JSON Schema (2020-12) that the persona's outputs must fit.",
      example: { type: "object", required: ["risk"], properties: { risk: { enum: ["low", "high"] } } },
      otherwise: "any outputs",
    }),
    checks: withDefault(namedList(object(checkSection), { allowed: "a list of checks" }), [], {
      sentence: "Commands that must pass.",
      example: [{ name: "has-title", run: ["grep", "-q", "^# ", "docs/requirements.md"] }],
      otherwise: "none",
    }),
  },
});

export const policySection = section({
  name: "policy",
  sentence: "The actions that a persona is allowed.",
  allowed: "an object with read, write and checks",
  hints: { tools: "Write tools beside policy instead." },
  keys: {
    read: withDefault(set(glob, { allowed: "a list of globs" }), null, {
      sentence:
        "Globs of the files that it may read, search, list and change; `!` forbids. A path without wildcards also lets in a file that is left out because it looks like a secret, for this persona alone.",
      example: ["**", "!**/secrets/**"],
      otherwise: "every file",
    }),
    write: withDefault(set(glob, { allowed: "a list of globs" }), null, {
      sentence: "Globs of the files that it may write.",
      example: ["src/**"],
      otherwise: "every file",
    }),
    checks: withDefault(
      set(reference("the name of a check"), { allowed: "a list of names of checks" }),
      null,
      {
        sentence: "The checks of its contract that a model may run by itself.",
        example: ["has-title"],
        otherwise: "all checks of the contract",
      },
    ),
  },
});
