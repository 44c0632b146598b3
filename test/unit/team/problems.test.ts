import { describe, expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { fileTeam, problemsOf, readerProblemsOf, works } from "./written-team.ts";

const nameRule = "A name starts with a letter and has at most 64 letters, digits, hyphens and underscores.";
const onePhase = [{ name: "design", personas: ["architect"] }];
const contract = { deliverables: ["docs/design.md"] };

/** A team with one phase and one persona, which has these keys. */
const withPersona = (persona: unknown) => fileTeam(onePhase, { architect: persona });
const withPhase = (phase: object, persona: Record<string, unknown> = {}) =>
  fileTeam([{ ...onePhase[0], ...phase }], { architect: works(persona) });
const withTeam = (more: Record<string, unknown>) => fileTeam(onePhase, {}, more);
const withContract = (contract: unknown) => withPersona(works({ contract }));

test("a team with nothing wrong has no problems", () => {
  expect(problemsOf(fileTeam(onePhase))).toEqual([]);
});

describe("a key that does not exist is named with the one that was meant", () => {
  test.each([
    [withTeam({ modle: "simulated" }), 'the team has an unknown key "modle". Did you mean "model"?'],
    [withTeam({ paralel: 2 }), 'the team has an unknown key "paralel". Did you mean "parallel"?'],
    [withTeam({ stages: [] }), 'the team has an unknown key "stages". Write phases instead.'],
    [withTeam({ zebra: 1 }), 'the team has an unknown key "zebra".'],
    [withTeam({ constructor: 1 }), 'the team has an unknown key "constructor".'],
    [
      withPhase({ depends_on: [] }),
      'phase "design" has an unknown key "depends_on". Did you mean "dependsOn"?',
    ],
    [withPhase({ needs: [] }), 'phase "design" has an unknown key "needs". Write dependsOn instead.'],
    [withPhase({ gates: 1 }), 'phase "design" has an unknown key "gates". Did you mean "gate"?'],
    [
      withPersona(works({ max_attempts: 3 })),
      'persona "architect" has an unknown key "max_attempts". Did you mean "maxAttempts"?',
    ],
    [
      withPersona(works({ timeout: 3 })),
      'persona "architect" has an unknown key "timeout". Did you mean "timeoutMs"?',
    ],
    [
      withPersona(works({ consume: [] })),
      'persona "architect" has an unknown key "consume". Did you mean "consumes"?',
    ],
    [
      withPersona(works({ checks: [] })),
      'persona "architect" has an unknown key "checks". Write contract.checks instead.',
    ],
    [
      withPersona(works({ prompt: "x" })),
      'persona "architect" has an unknown key "prompt". Write instructions instead.',
    ],
    [
      withContract({ deliverable: [] }),
      'persona "architect": contract has an unknown key "deliverable". Did you mean "deliverables"?',
    ],
    [
      withContract({ checks: [{ name: "lint", run: ["lint"], weigth: 2 }] }),
      'persona "architect": contract.checks[0] has an unknown key "weigth". Did you mean "weight"?',
    ],
    [
      withPersona(works({ policy: { writes: [] } })),
      'persona "architect": policy has an unknown key "writes". Did you mean "write"?',
    ],
    [
      withPersona(works({ budget: { token: 5, usd: 1 } })),
      'persona "architect": budget has an unknown key "token". Did you mean "tokens"?',
    ],
  ])("%#", (written, problem) => {
    expect(problemsOf(written)).toEqual([problem]);
  });

  test("and a key that is only misspelled is not said to be missing as well", () => {
    expect(problemsOf(withPersona({ instruction: "Do it." }))).toEqual([
      'persona "architect" has an unknown key "instruction". Did you mean "instructions"?',
    ]);
    expect(
      problemsOf({ ...fileTeam(onePhase), phases: [{ name: "design", persona: ["architect"] }] }),
    ).toEqual(['phase "design" has an unknown key "persona". Did you mean "personas"?']);
    expect(problemsOf(withPhase({ gate: { treshold: 1 } }, { contract }))).toEqual([
      'phase "design": gate has an unknown key "treshold". Did you mean "threshold"?',
    ]);
  });
});

describe("a value of the wrong kind is shown with what is allowed", () => {
  test.each([
    [withTeam({ name: "my team" }), `the team: name is "my team"; it must be a name. ${nameRule}`],
    [withTeam({ name: undefined }), 'the team has no "name".'],
    [withTeam({ parallel: 0 }), "the team: parallel is 0; it must be a whole number from 1 to 100."],
    [withTeam({ parallel: "4" }), 'the team: parallel is "4"; it must be a whole number from 1 to 100.'],
    [withTeam({ budget: 5 }), "the team: budget is 5; it must be an object with tokens, usd, or both."],
    [withTeam({ budget: {} }), "the team: budget sets no limit: give it tokens, usd, or both."],
    [
      withTeam({ budget: { tokens: 1.5 } }),
      "the team: budget.tokens is 1.5; it must be a whole number from 1 to 9007199254740991.",
    ],
    [
      withTeam({ budget: { usd: -1 } }),
      "the team: budget.usd is -1; it must be a number of dollars, from 0.000001 to 1000000000.",
    ],
    [
      withTeam({ budget: { usd: Number.NaN } }),
      "the team: budget.usd is NaN; it must be a number of dollars, from 0.000001 to 1000000000.",
    ],
    [withTeam({ phases: {} }), "the team: phases is an object; it must be a list of phases."],
    [withTeam({ phases: [] }), "the team has no phases."],
    [
      withTeam({ personas: [] }),
      "the team: personas is an empty list; it must be an object of personas by name.",
    ],
    [withTeam({ phases: ["design"] }), 'phase 1 is "design"; it must be an object with name and personas.'],
    [withPhase({ name: "1st" }), `phase "1st": the name is not allowed. ${nameRule}`],
    [withPhase({ name: 7 }), `the team: phases[0].name is 7; it must be a name. ${nameRule}`],
    [withPhase({ name: "init" }), 'phase "init": the checkpoint of the start has this name.'],
    [withPhase({ name: "INIT" }), 'phase "INIT": the checkpoint of the start has this name.'],
    [
      withPhase({ gate: 75 }, { contract }),
      'phase "design": gate is 75; it must be a number from 0 to 1, such as 0.75.',
    ],
    [
      withPhase({ gate: -0.1 }, { contract }),
      'phase "design": gate is -0.1; it must be a number from 0 to 1, such as 0.75.',
    ],
    [
      withPhase({ gate: null }, { contract }),
      'phase "design": gate is empty; it must be a number from 0 to 1, such as 0.75.',
    ],
    [
      withPhase({ gate: { threshold: 2 } }, { contract }),
      'phase "design": gate.threshold is 2; it must be a number from 0 to 1, such as 0.75.',
    ],
    [
      withPhase({ gate: { threshold: 1, onFail: "stop" } }, { contract }),
      'phase "design": gate.onFail is "stop"; it must be "review" or "warn".',
    ],
    [withPhase({ review: "yes" }), 'phase "design": review is "yes"; it must be true or false.'],
    [
      withPhase({ dependsOn: "start" }),
      'phase "design": dependsOn is "start"; it must be a list of names of phases, such as ["start"].',
    ],
    [withPhase({ dependsOn: [1] }), 'phase "design": dependsOn[0] is 1; it must be the name of a phase.'],
    [
      withPersona(works({ maxAttempts: 0 })),
      'persona "architect": maxAttempts is 0; it must be a whole number from 1 to 20.',
    ],
    [
      withPersona(works({ timeoutMs: 0.5 })),
      'persona "architect": timeoutMs is 0.5; it must be a whole number from 1 to 86400000.',
    ],
    [
      withPersona(works({ healing: "maybe" })),
      'persona "architect": healing is "maybe"; it must be on or off.',
    ],
    [
      withPersona(works({ temperature: 3 })),
      'persona "architect": temperature is 3; it must be a number from 0 to 2.',
    ],
    [
      withPersona(works({ consumes: "analyst" })),
      'persona "architect": consumes is "analyst"; it must be a list of names of personas, such as ["analyst"].',
    ],
    [
      withPersona(null),
      'persona "architect" is empty; it must be an object with instructions, an agent or a command.',
    ],
    [
      withPersona({ instructions: " " }),
      'persona "architect": instructions is " "; it must be a text of at most 262144 bytes that is not empty.',
    ],
  ])("%#", (written, problem) => {
    expect(problemsOf(written)).toEqual([problem]);
  });
});

describe("a model is provider/model", () => {
  const form = 'it must be provider/model, or "simulated".';
  test.each([
    ["claude-sonnet-4-5", `"claude-sonnet-4-5"; ${form} Did you mean "anthropic/claude-sonnet-4-5"?`],
    ["gpt-5", `"gpt-5"; ${form} Did you mean "openai/gpt-5"?`],
    ["gemini-3-pro", `"gemini-3-pro"; ${form} Did you mean "google/gemini-3-pro"?`],
    ["simulted", `"simulted"; ${form} Did you mean "simulated"?`],
    ["", `""; ${form}`],
    ["anthropic/", `"anthropic/"; ${form}`],
    ["anthropic/a b", `"anthropic/a b"; ${form}`],
    [5, `5; ${form}`],
  ])("%s", (model, rest) => {
    expect(problemsOf(withTeam({ model }))).toEqual([`the team: model is ${rest}`]);
    expect(problemsOf(withPersona(works({ model })))).toEqual([`persona "architect": model is ${rest}`]);
  });

  test.each([
    ["antropic/claude-x", '"antropic"', "anthropic/claude-x"],
    ["openai_compatible/x", '"openai_compatible"', "openai-compatible/x"],
    ["mistrall/large", '"mistrall"', "mistral/large"],
  ])("%s: the closest provider", (model, provider, meant) => {
    const [problem] = readerProblemsOf(withTeam({ model }));
    expect(problem).toContain(`there is no provider ${provider}; known: anthropic, openai, google,`);
    expect(problem).toContain(`Did you mean "${meant}"?`);
  });

  test("another provider may be one of the program or the configuration", () => {
    expect(problemsOf(withTeam({ model: "mainframe/x" }))).toEqual([]);
  });

  test.each(["simulated", "anthropic/claude-sonnet-4-5", "openai-compatible/meta/llama-4:70b"])(
    "%s is one",
    (model) => {
      expect(problemsOf(withTeam({ model }))).toEqual([]);
    },
  );

  test("also as a fallback, where each is tried once", () => {
    const persona = works({
      model: "openai/a",
      fallbackModels: ["openai/b", "gpt-5", "openai/b", "openai/a"],
    });
    expect(problemsOf(withPersona(persona))).toEqual([
      `persona "architect": fallbackModels[1] is "gpt-5"; ${form} Did you mean "openai/gpt-5"?`,
      'persona "architect": fallbackModels[2] is "openai/b", which was tried before it.',
      'persona "architect": fallbackModels[3] is "openai/a", which was tried before it.',
    ]);
  });
});

describe("a persona has exactly one kind of work", () => {
  const ways = "give it instructions for a model, an agent, or a command.";
  test.each([
    [{}, `has no work: ${ways}`],
    [{ maxAttempts: 2 }, `has no work: ${ways}`],
    [{ model: "simulated" }, "has a model and no instructions for it."],
    [{ command: ["x"], model: "simulated" }, "has more than one kind of work, command and model: keep one."],
    [{ agent: "claude", command: ["x"] }, "has more than one kind of work, agent and command: keep one."],
    [
      { command: ["x"], instructions: "Do it.", model: "simulated" },
      "has more than one kind of work, command and instructions and model: keep one.",
    ],
  ])("%j", (persona, problem) => {
    expect(problemsOf(withPersona(persona))).toEqual([`persona "architect" ${problem}`]);
  });

  test("a file cannot hold code", () => {
    expect(problemsOf(withPersona({ run: "main.ts" }))).toEqual([
      `persona "architect": run is for teams in TypeScript or JavaScript: ${ways}`,
    ]);
  });

  test.each([
    [{ command: ["x"], maxSteps: 5 }, "maxSteps has no effect: the work is a command."],
    [{ command: ["x"], permissions: "full" }, "permissions has no effect: the work is a command."],
    [{ agent: "claude", maxSteps: 5 }, "maxSteps has no effect: the work is a command."],
    [{ command: ["x"], tools: ["submit"] }, "tools has no effect: the work is a command."],
    [{ command: ["x"], policy: { checks: [] } }, "policy.checks has no effect: the work is a command."],
    [{ instructions: "x", reserve: { usd: 1 } }, "reserve has no effect: the work is a model."],
    [{ instructions: "x", network: false }, "network has no effect: the work is a model."],
  ])("a key of another kind is refused: %j", (persona, problem) => {
    expect(problemsOf(withPersona(persona))).toEqual([`persona "architect": ${problem}`]);
  });

  const argv = "it must be a list of program and arguments (there is no shell)";
  test.each([
    ["claude -p", `command is a text; ${argv}, such as ["claude", "-p"].`],
    [[], `command names no program; ${argv}.`],
    [[""], `command names no program; ${argv}.`],
    [["claude", 5], "command[1] is 5; it must be a text of at most 32768 characters."],
    [["claude", "a\0b"], 'command[1] is "a\\u0000b"; it must be a text of at most 32768 characters.'],
    [{ program: "claude" }, `command is an object; ${argv}.`],
  ])("a command is a list: %j", (command, problem) => {
    expect(problemsOf(withPersona({ command }))).toEqual([`persona "architect": ${problem}`]);
  });

  test.each(["relative/path", "~", "~/", "/", "~/.", "/./etc", "~/../other", "/a/../b", "$HOME/x"])(
    "a place that an agent may read or write is named in full: %s",
    (place) => {
      const problems = problemsOf(withPersona({ command: ["x"], readable: [place], writable: [place] }));
      for (const key of ["readable", "writable"])
        expect(problems).toEqual(expect.arrayContaining([expect.stringContaining(`${key}[0]`)]));
    },
  );

  test("places that an agent may read or write are kept, and a team without them is what it was", () => {
    const work = (more: object) =>
      defineTeam("t", {
        phases: [phase("p", { personas: [persona("a", { command: ["x"], ...more })] })],
      }).definition.phases[0]?.personas[0]?.work;
    const places = { readable: ["~/.agent.json", "/opt/data"], writable: ["~/.agent"] };
    expect(work(places)).toMatchObject(places);
    expect(work({})).not.toHaveProperty("readable");
  });

  test("values of environment variables are neither taken nor shown", () => {
    const [problem, ...others] = problemsOf(
      withPersona({ command: ["x"], env: ["TOKEN=hunter2-secret", "HOME"] }),
    );
    expect(problem).toBe(
      'persona "architect": env[0] is not the name of an environment variable; values come from the environment.',
    );
    expect(others).toEqual([]);
  });

  test("a value that looks like an API key is not shown", () => {
    const [problem] = problemsOf(withTeam({ model: "sk-abcdefghijklmnop1234567890" }));
    expect(problem).not.toContain("abcdefghijklmnop");
  });
});

describe("limits of providers", () => {
  const withLimits = (limits: unknown) => withTeam({ limits });

  test("are numbers of requests and tokens a minute by the name of a provider", () => {
    const limits = {
      anthropic: { requestsPerMinute: 50, tokensPerMinute: 400_000 },
      "my-server": { requestsPerMinute: 1 },
    };
    expect(problemsOf(withLimits(limits))).toEqual([]);
  });

  test.each([
    [[50], "the team: limits is a list; it must be an object of limits by the name of a provider."],
    [
      { anthropic: 50 },
      "the team: limits.anthropic is 50; it must be an object with requestsPerMinute, tokensPerMinute or both.",
    ],
    [{ anthropic: {} }, "the team: limits.anthropic needs requestsPerMinute, tokensPerMinute or both."],
    [
      { anthropic: { rpm: 5, tokensPerMinute: 1 } },
      'the team: limits.anthropic has an unknown key "rpm". Write requestsPerMinute instead.',
    ],
    [
      { anthropic: { requestsPerMinute: 0 } },
      "the team: limits.anthropic.requestsPerMinute is 0; it must be a whole number from 1 to 1000000000.",
    ],
    [
      { anthropic: { tokensPerMinute: -5 } },
      "the team: limits.anthropic.tokensPerMinute is -5; it must be a whole number from 1 to 1000000000.",
    ],
    [
      { "anthropic/claude": { requestsPerMinute: 5 } },
      "the team: limits.anthropic/claude is no name of a provider: the part of a model before the slash, such as anthropic.",
    ],
  ])("%j is a problem that names its place", (limits, problem) => {
    expect(problemsOf(withLimits(limits))).toContain(problem);
  });

  test("of a misspelled provider would limit nothing, and are refused with the one that was meant", () => {
    expect(readerProblemsOf(withLimits({ anthropc: { requestsPerMinute: 5 } }))).toEqual([
      'the team: limits.anthropc limits no provider: there is no "anthropc". Did you mean "anthropic"?',
    ]);
  });
});
