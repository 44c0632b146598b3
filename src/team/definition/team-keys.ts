import { providers } from "../../personas/model/provider-table.ts";
import { agentKeys, commandKey, commandKeys } from "./command-keys.ts";
import {
  type BudgetDefinition,
  budget,
  budgetSection,
  checkSection,
  contractSection,
  deliverableSection,
  type GateDefinition,
  gate,
  gateSection,
  policySection,
} from "./contract-keys.ts";
import { defaultProtect } from "./default-protect.ts";
import { deliverKey, deliverSection } from "./deliver-keys.ts";
import { type Keys, object, optional, required, type Section, section, withDefault } from "./fields.ts";
import { guidanceKeys } from "./guidance-keys.ts";
import {
  fileOrMember,
  type Kind,
  name,
  nameSchema,
  oneOf,
  onOrOff,
  readLater,
  reference,
  set,
  text,
  wholeNumber,
  yesOrNo,
} from "./kinds.ts";
import { definitionLimits } from "./limits.ts";
import { mcpSection, mcpServers } from "./mcp-keys.ts";
import { modelKeys } from "./model-keys.ts";
import { modelName } from "./model-name.ts";
import { providerLimits, rateSection } from "./rate-keys.ts";
import { setupSection, setups } from "./setup-keys.ts";
import { sourceSection } from "./source-keys.ts";
import { shellSection, toolKeys, webKey, webSection } from "./tool-keys.ts";

export type { BudgetDefinition, GateDefinition };
export {
  agentKeys,
  checkSection,
  commandKeys,
  contractSection,
  deliverableSection,
  guidanceKeys,
  modelKeys,
  policySection,
  toolKeys,
};

// Every key of the team file, declared once. A new key is one entry here: the reader, the types of `defineTeam`,
// the recorded definition, team.schema.json and docs/team-file.md follow from it (`npm run docs` writes the last
// two).

const maxDayMs = 86_400_000;

/** Keys of every persona. */
export const personaKeys = {
  consumes: withDefault(
    set(reference("the name of a persona"), { allowed: "a list of names of personas" }),
    null,
    {
      sentence: "The personas whose files and outputs it reads, and waits for within its phase.",
      example: ["analyst"],
      otherwise: "everything so far",
    },
  ),
  contract: withDefault(
    object(contractSection),
    { deliverables: [], checks: [] },
    {
      sentence: "Its deliverables and checks.",
      example: { deliverables: ["docs/requirements.md"] },
      otherwise: "nothing is checked",
    },
  ),
  policy: withDefault(
    object(policySection),
    { read: null, write: null, checks: null },
    {
      sentence: "The actions that it is allowed.",
      example: { write: ["docs/**"] },
      otherwise: "no restriction",
    },
  ),
  mayChange: withDefault(filesOrMembers(), [], {
    sentence:
      "Existing files that it may change although an earlier phase delivered them or the team protects them. Never `node_modules`.",
    example: ["test/**", "package.json#scripts"],
    otherwise: "none",
  }),
  budget: withDefault(budget, null, {
    sentence: "Its budget in a session, over all attempts and resumes.",
    example: { tokens: 40_000, usd: 0.5 },
    otherwise: "`budget.personaTokens` of the configuration",
  }),
  maxAttempts: withDefault(wholeNumber(1, 20), null, {
    sentence: "Attempts in one round.",
    example: 3,
    otherwise: "`attempts.max` of the configuration",
  }),
  timeoutMs: withDefault(wholeNumber(1, maxDayMs), null, {
    sentence: "How long an attempt may make no progress before it is ended.",
    example: 600_000,
    otherwise: "`attempts.timeoutMs` of the configuration",
  }),
  healing: withDefault(onOrOff, true, {
    sentence: "Whether a failure that can be repaired without a new attempt is repaired.",
    example: "off",
    otherwise: "`on`",
  }),
};

const instructions = text(definitionLimits.instructionsBytes);

const instructionsKey = optional(instructions, {
  sentence: "The task of the persona. A model needs them; a command gets them with its input.",
  example: "Turn the brief into testable requirements.",
  otherwise: "none",
});

function filesOrMembers(): Kind<readonly string[]> {
  return set(fileOrMember, { allowed: "a list of globs; `#` names a member: package.json#scripts" });
}

/** Keys of one kind of work. They have no effect with the other kind. */
export const workKeys = { model: modelKeys, command: commandKeys };

const without = (keys: Keys, ...more: readonly string[]): Record<string, false> =>
  Object.fromEntries([...Object.keys(keys), ...more].map((key) => [key, false]));

/** `model` also chooses the model of an agent. */
const { model: _, ...ownModelKeys } = modelKeys;

export const personaSection = section({
  name: "persona",
  sentence: "One member of the team: `instructions` for a model, an `agent`, or a `command`.",
  allowed: "an object with instructions, an agent or a command",
  hints: {
    deliverables: "Write contract.deliverables instead.",
    outputs: "Write contract.outputs instead.",
    checks: "Write contract.checks instead.",
    write: "Write policy.write instead.",
    prompt: "Write instructions instead.",
    dependsOn: "Write consumes instead, or dependsOn in the phase.",
    gate: "Write it in the phase.",
    review: "Write it in the phase.",
  },
  keys: {
    instructions: instructionsKey,
    ...modelKeys,
    ...toolKeys,
    ...guidanceKeys,
    ...agentKeys,
    command: commandKey,
    ...commandKeys,
    ...personaKeys,
  },
  schema: {
    if: { required: ["command"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: {
      properties: {
        ...without({ ...modelKeys, ...toolKeys, ...agentKeys }),
        policy: { properties: { checks: false } },
      },
    },
    else: {
      if: { required: ["agent"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: {
        properties: {
          ...without({ ...ownModelKeys, ...toolKeys }),
          policy: { properties: { checks: false } },
        },
      },
      else: { required: ["instructions"], properties: without({ ...commandKeys, ...agentKeys }, "command") },
    },
  },
});

export const phaseSection = section({
  name: "phase",
  sentence: "A step of the team's work, judged as a whole.",
  allowed: "an object with name and personas",
  hints: {
    needs: "Write dependsOn instead.",
    after: "Write dependsOn instead.",
    agents: "Write personas instead.",
    consumes: "Write dependsOn instead, or consumes in the persona.",
  },
  keys: {
    name: required(
      { ...name, schema: { ...nameSchema, not: { pattern: "^[Ii][Nn][Ii][Tt]$" } } },
      { sentence: "Its name. `init` is taken.", example: "design" },
    ),
    dependsOn: optional(set(reference("the name of a phase"), { allowed: "a list of names of phases" }), {
      sentence: "The phases that must be accepted before it starts. `[]` starts it at once.",
      example: ["requirements"],
      otherwise: "the phase before it",
    }),
    personas: required(
      readLater<readonly string[]>("a list of personas", {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        uniqueItems: true,
      }),
      {
        sentence: "Names of its personas, as described under the team's `personas`.",
        example: ["architect", "skeptic"],
        missing: "has no personas.",
        orEmpty: true,
      },
    ),
    gate: withDefault(gate, null, {
      sentence: "The share of the check weight that must pass. It needs a contract to judge.",
      example: 0.8,
      otherwise: "no gate",
    }),
    review: withDefault(yesOrNo, false, {
      sentence: "Whether the session parks for a person's review after the phase.",
      example: true,
    }),
    budget: withDefault(budget, null, {
      sentence: "The budget of the phase in a session.",
      example: { tokens: 100_000 },
      otherwise: "no limit of its own",
    }),
  },
});

export const teamSection = section({
  name: "team",
  sentence: "The file itself.",
  allowed: "an object with name and phases",
  hints: {
    stages: "Write phases instead.",
    steps: "Write phases instead.",
    agents: "Write personas instead.",
    roles: "Write personas instead.",
  },
  keys: {
    $schema: optional(reference("the address of a JSON Schema"), {
      sentence: "Points an editor to `team.schema.json`. Maestro ignores it.",
      example: "./node_modules/maestro-hive/team.schema.json",
      otherwise: "none",
      fileOnly: true,
    }),
    name: required(name, { sentence: "Its name in sessions and messages.", example: "product" }),
    description: optional(text(16 * 1024), {
      sentence: "The purpose of the team.",
      example: "Turns a brief into a design.",
      otherwise: "none",
    }),
    model: withDefault(modelName, null, {
      sentence: "The model of every persona that names none. `--model` and `MAESTRO_MODEL` override it.",
      example: providers.anthropic.example,
      otherwise: "none: `--model` or `MAESTRO_MODEL` must name one",
    }),
    parallel: withDefault(wholeNumber(1, 100), 4, {
      sentence: "How many personas of a phase work at once.",
      example: 2,
    }),
    source: optional(object(sourceSection), {
      sentence: "The repository that its sessions work on. `--repo` and `--ref` override it.",
      example: { git: ".", exclude: ["**/*.snap"] },
      otherwise: "none",
    }),
    protect: withDefault(filesOrMembers(), defaultProtect, {
      sentence:
        "Existing files that no persona may change, unless its `mayChange` names them. `#` names a member of a JSON file.",
      example: ["test/**", "package.json#scripts"],
      otherwise:
        "test files and snapshots, settings of test runners, `scripts` of package.json, Makefile, .npmrc, CI files and lockfiles",
    }),
    mcp: optional(mcpServers, {
      sentence: "MCP servers by name. A persona is offered what its `tools` name of them: `github/*`.",
      example: { github: { url: "https://mcp.example/mcp", headers: { authorization: "$EXAMPLE_TOKEN" } } },
      otherwise: "none",
    }),
    web: webKey,
    limits: optional(providerLimits, {
      sentence:
        "Requests and tokens a minute by provider, the part of a model before the slash. A call too many waits. Of this and `limits.providers` of the configuration the smaller counts.",
      example: { anthropic: { requestsPerMinute: 50, tokensPerMinute: 400_000 } },
      otherwise: "no limit",
    }),
    setup: optional(setups, {
      sentence: "How dependencies of the files are installed. `off` installs none.",
      example: { run: ["npm", "ci"], inputs: ["package-lock.json"], keep: ["node_modules"], network: true },
      otherwise: "found by the lockfile of the repository",
    }),
    budget: withDefault(budget, null, {
      sentence: "The budget of a session, over all its resumes.",
      example: { tokens: 500_000, usd: 5 },
      otherwise: "no limit",
    }),
    deliver: deliverKey,
    planning: optional(oneOf("rules", "model", "off"), {
      sentence:
        "Chooses the part of the team that each brief needs: by `rules`, or by one call of the session's `model`.",
      example: "rules",
      otherwise: "`off`",
    }),
    phases: required(
      readLater<readonly unknown[]>("a list of phases", {
        type: "array",
        items: object(phaseSection).schema,
        minItems: 1,
        maxItems: definitionLimits.phases,
      }),
      {
        sentence: "The phases, in order.",
        example: [{ name: "design", personas: ["architect"] }],
        missing: "has no phases.",
        orEmpty: true,
      },
    ),
    personas: required(
      readLater<Readonly<Record<string, unknown>>>("an object of personas by name", {
        type: "object",
        propertyNames: nameSchema,
        additionalProperties: object(personaSection).schema,
      }),
      {
        sentence: "The personas by name. Each must be in a phase.",
        example: { architect: { instructions: "Propose one design." } },
        missing: 'has no "personas": describe each by its name.',
        fileOnly: true,
      },
    ),
  },
});

/** In the order of the docs page. */
export const teamFileSections: readonly Section[] = [
  teamSection,
  sourceSection,
  phaseSection,
  gateSection,
  personaSection,
  contractSection,
  deliverableSection,
  checkSection,
  policySection,
  shellSection,
  webSection,
  mcpSection,
  rateSection,
  budgetSection,
  deliverSection,
  setupSection,
];
