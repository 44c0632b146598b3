import { describe, expect, test } from "vitest";
import { definitionOf, fileTeam, problemsOf, readerProblemsOf, works } from "./written-team.ts";

const phase = (name: string, personas: readonly string[], more: object = {}) => ({ name, personas, ...more });

describe("phases have an order", () => {
  const line = (...phases: readonly (readonly [name: string, dependsOn?: readonly string[]])[]) =>
    fileTeam(
      phases.map(([name, dependsOn]) =>
        phase(name, ["worker"], dependsOn === undefined ? {} : { dependsOn }),
      ),
    );

  test.each([
    [
      "a misspelled phase",
      line(["requirements"], ["design", ["requirments"]]),
      ['phase "design" depends on "requirments", and there is no such phase. Did you mean "requirements"?'],
    ],
    ["itself", line(["design", ["design"]]), ['phase "design" depends on itself.']],
    ["a phase twice", line(["a"], ["b", ["a", "a"]]), ['phase "b": dependsOn has "a" twice.']],
    ["a phase that is there twice", line(["a"], ["b"], ["a"]), ['phase "a" is there twice.']],
    [
      "a phase that some disks take for another",
      line(["Design"], ["design"]),
      ['phase "design" differs from phase "Design" in upper and lower case only.'],
    ],
    [
      "a circle",
      line(["a", ["c"]], ["b", ["a"]], ["c", ["b"]]),
      ['phase "a" can never start, for it depends on itself: a -> c -> b -> a.'],
    ],
    [
      "a circle through a default, and what waits behind it",
      line(["a", ["b"]], ["b"], ["c"], ["d", ["c"]], ["free", []]),
      [
        'phase "a" can never start, for it depends on itself: a -> b -> a. Phase "b" depends on the phase before it by default; dependsOn: [] makes it start at once.',
        'phase "c" can never start: it depends on "b", which never does.',
        'phase "d" can never start: it depends on "c", which never does.',
      ],
    ],
    [
      "two circles",
      line(["a", ["b"]], ["b", ["a"]], ["c", ["d"]], ["d", ["c"]]),
      [
        'phase "a" can never start, for it depends on itself: a -> b -> a.',
        'phase "c" can never start, for it depends on itself: c -> d -> c.',
      ],
    ],
  ])("not with %s", (_title, written, problems) => {
    expect(problemsOf(written)).toEqual(problems);
  });

  test("the phase before is the default, none and later ones are possible", () => {
    const { phases } = definitionOf(line(["a"], ["b"], ["c", []], ["d", ["e"]], ["e", ["a", "c"]]));
    expect(phases.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
      ["a", []],
      ["b", ["a"]],
      ["c", []],
      ["d", ["e"]],
      ["e", ["a", "c"]],
    ]);
  });
});

describe("a persona reads only from personas that exist and finish before it", () => {
  test.each([
    [
      "a misspelled persona, said once however many phases it is in",
      fileTeam([phase("a", ["analyst", "critic"]), phase("b", ["critic"])], {
        critic: works({ consumes: ["analist"] }),
      }),
      ['persona "critic" consumes "analist", and there is no such persona. Did you mean "analyst"?'],
    ],
    [
      "itself",
      fileTeam([phase("a", ["critic"])], { critic: works({ consumes: ["critic"] }) }),
      ['persona "critic" of phase "a" consumes itself.'],
    ],
    [
      "one who comes later",
      fileTeam([phase("a", ["analyst"]), phase("b", ["architect"])], {
        analyst: works({ consumes: ["architect"] }),
      }),
      ['persona "analyst" of phase "a" consumes "architect", which comes later, in phase "b".'],
    ],
    [
      "one of a phase that it does not wait for",
      fileTeam([phase("a", ["analyst"]), phase("b", ["architect"], { dependsOn: [] })], {
        architect: works({ consumes: ["analyst"] }),
      }),
      [
        'persona "architect" of phase "b" consumes "analyst" of phase "a", which its phase does not wait for. Add "a" to dependsOn of phase "b".',
      ],
    ],
    [
      "each other",
      fileTeam([phase("a", ["one", "two", "three"])], {
        one: works({ consumes: ["two"] }),
        two: works({ consumes: ["three"] }),
        three: works({ consumes: ["one"] }),
      }),
      ['phase "a" has personas that wait for each other: one -> two -> three -> one.'],
    ],
    [
      "only in one of the phases it is in",
      fileTeam([phase("a", ["critic"]), phase("b", ["author"]), phase("c", ["critic"])], {
        critic: works({ consumes: ["author"] }),
      }),
      ['persona "critic" of phase "a" consumes "author", which comes later, in phase "b".'],
    ],
  ])("not from %s", (_title, written, problems) => {
    expect(problemsOf(written)).toEqual(problems);
  });

  test("its own earlier work, its neighbors and all personas upstream are valid inputs", () => {
    const team = fileTeam(
      [phase("a", ["analyst"]), phase("b", ["critic"]), phase("c", ["critic", "author"])],
      { critic: works({ consumes: ["analyst"] }), author: works({ consumes: ["analyst", "critic"] }) },
    );
    expect(problemsOf(team)).toEqual([]);
    const again = fileTeam([phase("a", ["critic"]), phase("b", ["critic"])], {
      critic: works({ consumes: ["critic"] }),
    });
    // In the first phase there is no earlier work.
    expect(problemsOf(again)).toEqual([
      'persona "critic" of phase "a" consumes "critic", which comes later, in phase "b".',
    ]);
  });

  test("a misspelled dependency is not also reported at the phases that depend on it", () => {
    const team = fileTeam(
      [phase("first", ["analyst"]), phase("second", ["architect"], { dependsOn: ["frist"] })],
      {
        architect: works({ consumes: ["analyst"] }),
      },
    );
    expect(problemsOf(team)).toEqual([
      'phase "second" depends on "frist", and there is no such phase. Did you mean "first"?',
    ]);
  });
});

describe("the personas of a file and those of its phases are the same", () => {
  const team = (personas: readonly unknown[], described: Record<string, unknown>) => ({
    name: "team",
    phases: [{ name: "design", personas }],
    personas: described,
  });
  test.each([
    [
      "misspelled, and so not unused as well",
      team(["architct"], { architect: works() }),
      ['phase "design": personas[0] is "architct", and there is no such persona. Did you mean "architect"?'],
    ],
    ["unused", team(["a"], { a: works(), b: works() }), ['persona "b" is in no phase.']],
    ["twice in a phase", team(["a", "a"], { a: works() }), ['phase "design" has persona "a" twice.']],
    [
      "described in the phase",
      team(["a", { instructions: "x" }], { a: works() }),
      ['phase "design": personas[1] is an object; it must be the name of a persona under "personas".'],
    ],
    [
      "badly named",
      team(["the architect"], { "the architect": works() }),
      [
        'persona "the architect": the name is not allowed. A name starts with a letter and has at most 64 letters, digits, hyphens and underscores.',
      ],
    ],
    [
      "nowhere",
      { name: "team", phases: [phase("a", ["b", "c"])] },
      ['the team has no "personas": describe each by its name.'],
    ],
    [
      "under a misspelled key",
      { name: "team", phases: [phase("a", ["b", "c"])], persons: { b: works() } },
      ['the team has an unknown key "persons". Did you mean "personas"?'],
    ],
  ])("%s", (_title, written, problems) => {
    expect(problemsOf(written)).toEqual(problems);
  });
});

describe("contracts fit together", () => {
  const delivers = (...deliverables: readonly unknown[]) => works({ contract: { deliverables } });

  const nothing =
    'phase "a" has a gate and nothing to judge: give a persona of it a contract with deliverables, outputs or checks.';
  test.each([
    ["no contract", {}, [nothing]],
    ["an empty contract", { contract: {} }, [nothing]],
    [
      "checks without weight",
      { contract: { checks: [{ name: "lint", run: ["lint"], weight: 0 }] } },
      [nothing],
    ],
    ["a deliverable", { contract: { deliverables: ["a"] } }, []],
    ["a schema", { contract: { outputs: { type: "object" } } }, []],
    ["a check", { contract: { checks: [{ name: "lint", run: ["lint"] }] } }, []],
    [
      "a contract that cannot be read",
      { contract: { deliverable: ["a"] } },
      ['persona "one": contract has an unknown key "deliverable". Did you mean "deliverables"?'],
    ],
  ])("a gate judges something: %s", (_title, persona, problems) => {
    expect(problemsOf(fileTeam([phase("a", ["one"], { gate: 0.5 })], { one: works(persona) }))).toEqual(
      problems,
    );
  });

  test("a gate and a review go together", () => {
    const team = fileTeam([phase("a", ["one"], { gate: 1, review: true })], { one: delivers("a") });
    expect(definitionOf(team).phases[0]).toMatchObject({
      gate: { threshold: 1, onFail: "review" },
      review: true,
    });
  });
});

describe("a command under a budget says what a run may cost", () => {
  const team = (persona: object, budgets: { phase?: object; team?: object } = {}) =>
    fileTeam(
      [phase("a", ["agent"], budgets.phase === undefined ? {} : { budget: budgets.phase })],
      { agent: { command: ["claude", "-p"], ...persona } },
      budgets.team === undefined ? {} : { budget: budgets.team },
    );
  const lacking = (whose: string, unit: string) =>
    `persona "agent" of phase "a" is a command under ${whose} budget of ${unit}: say in reserve.${unit} what one run may cost at most.`;

  test.each([
    ["no budget", team({}), []],
    ["its own", team({ budget: { tokens: 9 } }), [lacking("its own", "tokens")]],
    ["its phase's", team({}, { phase: { usd: 9 } }), [lacking("its phase's", "usd")]],
    [
      "the team's",
      team({}, { team: { tokens: 9, usd: 9 } }),
      [lacking("the team's", "tokens"), lacking("the team's", "usd")],
    ],
    [
      "a reserve in the other unit",
      team({ reserve: { usd: 1 } }, { team: { tokens: 9 } }),
      [lacking("the team's", "tokens")],
    ],
    ["a reserve", team({ reserve: { tokens: 5, usd: 1 } }, { team: { tokens: 9, usd: 9 } }), []],
    [
      "a reserve that can never be granted",
      team({ reserve: { tokens: 10 } }, { team: { tokens: 9 } }),
      [
        'persona "agent" of phase "a" reserves 10 tokens for a run, and the team\'s budget is 9: it could never run.',
      ],
    ],
  ])("%s", (_title, written, problems) => {
    expect(problemsOf(written)).toEqual(problems);
  });

  test("a model under a budget needs none", () => {
    expect(problemsOf(fileTeam([phase("a", ["b"])], {}, { budget: { tokens: 1 } }))).toEqual([]);
  });
});

describe("a definition has a size", () => {
  const names = (count: number, letter: string) =>
    Array.from({ length: count }, (_, index) => `${letter}${index}`);

  test("of at most a thousand phases and ten thousand personas", () => {
    const phases = (count: number, personas: readonly string[]) =>
      fileTeam(names(count, "p").map((name) => phase(name, personas)));
    expect(problemsOf(phases(1_000, names(10, "a")))).toEqual([]);
    expect(problemsOf(phases(1_001, ["a"]))).toEqual([
      "the team: phases has 1001 items; at most 1000 are allowed.",
    ]);
    expect(problemsOf(phases(1_000, names(11, "a")))).toEqual([
      "the team: phases have 11000 personas together; at most 10000 are allowed.",
    ]);
  });

  test("and of instructions that are bounded alone and together", () => {
    const instructed = (bytes: number, uses: number) =>
      fileTeam(
        names(uses, "p").map((name) => phase(name, ["a"])),
        { a: { instructions: "é".repeat(bytes / 2) } },
      );
    expect(problemsOf(instructed(262_144, 1))).toEqual([]);
    expect(readerProblemsOf(instructed(262_146, 1))[0]).toMatch(
      /instructions is "é+…"; it must be a text of at most 262144 bytes/,
    );
    expect(problemsOf(instructed(262_144, 1_000))).toEqual([
      "the team has 131406000 characters in all its phases together; at most 16777216 are allowed.",
    ]);
  });

  test("and what is wrong with it is bounded, too, however much that is", () => {
    const personas = names(9_000, "persona-");
    const described = Object.fromEntries(personas.map((name) => [name, works({ consumes: [`${name}x`] })]));
    const found = problemsOf(fileTeam([phase("a", personas)], described));
    expect(found).toHaveLength(100);
    expect(found[0]).toContain('Did you mean "persona-0"?');
    // Comparing each with each would take minutes, so that the last ones come without advice.
    expect(found[99]).not.toContain("Did you mean");
  });
});
