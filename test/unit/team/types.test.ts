import { expectTypeOf, test } from "vitest";
import {
  defineTeam,
  type Persona,
  type Phase,
  type PhaseNameOf,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";

const worker = persona("worker", { instructions: "Do it." });
const team = defineTeam("typed", {
  phases: [phase("requirements", { personas: [worker] }), phase("design", { personas: [worker] })],
});

/** As every front door that takes a team and names of its phases. */
function start<PhaseName extends string>(
  _team: Team<PhaseName>,
  _options: { readonly from?: NoInfer<PhaseName>; readonly only?: readonly NoInfer<PhaseName>[] },
): void {}

test("a team knows its phases", () => {
  expectTypeOf(team).toEqualTypeOf<Team<"requirements" | "design">>();
  expectTypeOf<PhaseNameOf<typeof team>>().toEqualTypeOf<"requirements" | "design">();
  expectTypeOf(team).toExtend<Team>();
  start(team, { from: "design", only: ["requirements"] });
  // @ts-expect-error a misspelled phase
  start(team, { from: "desing" });
  // @ts-expect-error a misspelled phase in a list
  start(team, { only: ["requirements", "testing"] });
});

test("a team whose phases are known only at run time takes any name", () => {
  const phases: Phase[] = [phase("a", { personas: [worker] })];
  const loaded = defineTeam("loaded", { phases });
  expectTypeOf(loaded).toEqualTypeOf<Team>();
  start(loaded, { from: "anything" });
});

test("dependsOn names phases of the team", () => {
  const ordered = defineTeam("ordered", {
    phases: [
      phase("a", { personas: [worker] }),
      phase("b", { personas: [worker], dependsOn: ["a"] }),
      phase("c", { personas: [worker], dependsOn: [] }),
    ],
  });
  expectTypeOf(ordered).toEqualTypeOf<Team<"a" | "b" | "c">>();
  const misspelled = () =>
    defineTeam("misspelled", {
      phases: [
        phase("a", { personas: [worker] }),
        // @ts-expect-error there is no phase of this name
        phase("b", { personas: [worker], dependsOn: ["aa"] }),
      ],
    });
  expectTypeOf(misspelled).toBeFunction();
});

test("a persona has one kind of work and the keys of that kind", () => {
  const run = () => ({ summary: "done" });
  expectTypeOf(persona("a", { run })).toExtend<Persona>();
  expectTypeOf(persona("a", { command: ["x"], instructions: "y", network: false })).toExtend<Persona>();
  expectTypeOf(
    persona("a", { agent: "codex", model: "openai/gpt-5-codex", permissions: "full" }),
  ).toExtend<Persona>();
  // @ts-expect-error an unknown agent
  persona("a", { agent: "cursor" });
  // @ts-expect-error an agent has a command line of its own
  persona("a", { agent: "claude", command: ["claude"] });
  // @ts-expect-error no work
  persona("a", {});
  // @ts-expect-error two kinds of work
  persona("a", { run, instructions: "x" });
  // @ts-expect-error a command has a model of its own
  persona("a", { command: ["x"], model: "simulated" });
  // @ts-expect-error a model has a model but no instructions
  persona("a", { model: "simulated" });
  // @ts-expect-error an unknown tool
  persona("a", { instructions: "x", tools: ["read"] });
  // @ts-expect-error an unknown key
  persona("a", { instructions: "x", maxAttempt: 3 });
});
