import { describe, expect, it, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { processorMs } from "../../support/processor-time.ts";
import { fileTeam, problemsOf, readerProblemsOf, works } from "../../unit/team/written-team.ts";
import { TeamPlace } from "./place.ts";

const inPhase = (name: string, personas: readonly string[], more: object = {}) => ({
  name,
  personas,
  ...more,
});
const delivers = (...deliverables: readonly unknown[]) => works({ contract: { deliverables } });
const files = (...all: readonly string[]) => delivers({ name: "files", files: all });

const atOnce = "personas that work at once cannot deliver the same file. Let one wait for the other";
const orLeaveOut = (file: string) => `${atOnce}, or leave it out there: "!${file}".`;
const within = (inner: string, file: string, outer: string, pattern: string) =>
  `persona "${inner}" delivers "${file}", and persona "${outer}" delivers "${pattern}", which matches all of it: ${orLeaveOut(file)}`;
const matched = (inner: string, file: string, outer: string, pattern: string) =>
  `persona "${inner}" delivers "${file}", and persona "${outer}" delivers "${pattern}", which matches it: ${orLeaveOut(file)}`;
const same = (one: string, file: string, other: string) =>
  `persona "${one}" delivers "${file}", and so does persona "${other}": ${atOnce}.`;

describe("a file that parallel personas deliver has one owner", () => {
  test("for a path, a pattern, and a path that a pattern matches", () => {
    const team = fileTeam([inPhase("a", ["one", "two", "three"])], {
      one: delivers("docs/design.md", { name: "code", files: ["src/**"] }),
      two: delivers({ name: "other", files: ["./docs/design.md"] }),
      three: delivers("src/**", "src/main.ts"),
    });
    expect(problemsOf(team)).toEqual([
      same("two", "docs/design.md", "one"),
      same("three", "src/**", "one"),
      matched("three", "src/main.ts", "one", "src/**"),
    ]);
  });

  test("in any order of declaration", () => {
    const team = fileTeam([inPhase("a", ["one", "two"])], {
      one: delivers("src/a.ts", "docs/a.md"),
      two: files("src/**"),
    });
    expect(problemsOf(team)).toEqual([matched("one", "src/a.ts", "two", "src/**")]);
  });

  test("for a pattern within another; patterns that only overlap are allowed", () => {
    const team = fileTeam([inPhase("a", ["one", "two", "three", "four", "five"])], {
      one: files("src/*.ts", "src/deep/*.ts"),
      two: files("src/**"),
      three: files("**/*.test.ts"),
      four: files("src/**/*"),
      five: files("docs/**"),
    });
    expect(problemsOf(team).toSorted()).toEqual(
      [
        within("one", "src/*.ts", "two", "src/**"),
        within("one", "src/deep/*.ts", "two", "src/**"),
        within("one", "src/*.ts", "four", "src/**/*"),
        within("one", "src/deep/*.ts", "four", "src/**/*"),
        within("four", "src/**/*", "two", "src/**"),
      ].toSorted(),
    );
  });

  test("also in branches that do not depend on each other", () => {
    const phases = [
      inPhase("start", ["first"]),
      inPhase("left", ["one"], { dependsOn: ["start"] }),
      inPhase("right", ["two"], { dependsOn: ["start"] }),
    ];
    const team = fileTeam(phases, { one: files("src/**"), two: files("src/db/*.sql") });
    expect(problemsOf(team)).toEqual([within("two", "src/db/*.sql", "one", "src/**")]);
  });

  test("except for files that a pattern excludes", () => {
    const left = ["src/**", "!src/db/**", "!src/main.ts"];
    const team = (...all: readonly string[]) =>
      fileTeam([inPhase("a", ["dev", "dba", "lead"])], {
        dev: files(...all),
        dba: files("src/db/*.sql"),
        lead: files("src/main.ts"),
      });
    expect(problemsOf(team(...left))).toEqual([]);
    expect(problemsOf(team("src/**", "!src/db/old/**", "!src/main.ts"))).toEqual([
      within("dba", "src/db/*.sql", "dev", "src/**"),
    ]);
    expect(problemsOf(team("src/**", "!src/db/**"))).toEqual([
      matched("lead", "src/main.ts", "dev", "src/**"),
    ]);
  });

  test("and thousands of patterns or files are compared quickly", () => {
    const names = Array.from({ length: 3_000 }, (_, place) => `p${place}`);
    const each = (deliver: (name: string) => string, count = names.length) =>
      Object.fromEntries(names.slice(0, count).map((name) => [name, files(deliver(name))]));
    const line = names.slice(0, 1_000).map((name) => inPhase(name, [name]));
    const many = fileTeam(
      [inPhase("a", names)],
      each((name) => `${name}/**`),
    );
    const long = fileTeam(
      line,
      each(() => "README.md", 1_000),
    );
    const problems: unknown[] = [];
    const took = processorMs(() => problems.push(...readerProblemsOf(many), ...readerProblemsOf(long)));
    expect(problems).toEqual([]);
    expect(took).toBeLessThan(5_000);
  });
});

describe("a persona that runs after another may deliver the same file", () => {
  test.each([
    ["in a later phase", [inPhase("build", ["dev"]), inPhase("test", ["tester"])], {}],
    [
      "in the same phase, when it consumes the other",
      [inPhase("build", ["dev", "tester"])],
      { consumes: ["dev"] },
    ],
    [
      "in the same phase, when it consumes a persona that does",
      [inPhase("build", ["dev", "middle", "tester"])],
      { consumes: ["middle"] },
    ],
  ])("%s", (_title, phases, more) => {
    for (const file of ["src/**/*.test.ts", "src/*.ts", "src/main.ts", "src/**"]) {
      const team = fileTeam(phases, {
        dev: files("src/**"),
        tester: { ...files(file), ...more },
        ...(phases[0]?.personas.includes("middle") && { middle: works({ consumes: ["dev"] }) }),
      });
      expect(problemsOf(team)).toEqual([]);
    }
  });

  it("finds the other's file, and consumers of the other see the new version", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const contract = (...all: string[]) => ({ deliverables: [{ name: "code", files: all }] });
    const team = defineTeam("after", {
      phases: [
        phase("build", {
          personas: [
            persona("dev", {
              contract: contract("src/**"),
              run: place.work("dev", ({ workspace }) => workspace.write("src/a.ts", "one\n")),
            }),
          ],
        }),
        phase("mend", {
          personas: [
            persona("mender", {
              contract: contract("src/a.ts"),
              run: place.work("mender", async ({ workspace }) =>
                workspace.write("src/a.ts", `${await workspace.readText("src/a.ts")}two\n`),
              ),
            }),
          ],
        }),
        phase("ship", {
          personas: [
            persona("op", {
              consumes: ["dev"],
              run: place.work("op", async ({ workspace }) => ({ saw: await workspace.readText("src/a.ts") })),
            }),
          ],
        }),
      ],
    });
    const result = await (await maestro.start(team, { brief: "x" })).result();
    expect(result.results["ship"]?.["op"]?.outputs).toEqual({ saw: "one\ntwo\n" });
    expect(place.ran).toEqual(["dev", "mender", "op"]);
  });
});

describe("patterns that overlap", () => {
  it("clash when both personas make the same file, and the later one runs again with both versions", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const told: string[] = [];
    const writer = (name: string, globs: string[], path: string) =>
      persona(name, {
        contract: { deliverables: [{ name: "mine", files: globs }] },
        run: place.work(name, async ({ workspace, failures }) => {
          told.push(...failures.map(({ message }) => `${name}: ${message}`));
          const both = workspace.list().includes(path) ? await workspace.readText(path) : "";
          if (!both.includes(name)) await workspace.write(path, `${both}${name}\n`);
        }),
      });
    const team = defineTeam("overlap", {
      phases: [
        phase("build", {
          personas: [
            writer("dev", ["src/**"], "src/a.test.ts"),
            writer("tester", ["**/*.test.ts"], "src/a.test.ts"),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran.slice(2)).toEqual(["tester"]);
    expect(told).toEqual([expect.stringMatching(/^tester: .*clash with those of dev: src\/a\.test\.ts/)]);
    expect(await place.filesOf(maestro, session.id)).toEqual({ "src/a.test.ts": "dev\ntester\n" });
  });
});
