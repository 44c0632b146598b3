import { beforeEach, describe, expect, it } from "vitest";
import {
  defineTeam,
  type Maestro,
  type PersonaContext,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";
import { counted } from "./counted-model.ts";
import { TeamPlace } from "./place.ts";

let place: TeamPlace;
let maestro: Maestro;
let id: string;
let model: ReturnType<typeof counted>;
/** After which question the session is paused; once. */
let pauseAfter: number | undefined;
/** Attempts that fail when all is answered. */
let failures: number;

async function pausedAfterTwo(): Promise<void> {
  place = new TeamPlace();
  model = counted();
  [pauseAfter, failures] = [2, 0];
  maestro = await place.open();
  id = (await maestro.create(team(1), { brief: "x" })).id;
  expect(await maestro.executeBatch(id)).toMatchObject({ status: "paused" });
  expect(paid()).toEqual(["Q1", "Q2"]);
}
beforeEach(pausedAfterTwo);

/** The questions that reached the model since the last call of this function. */
const paid = () => model.asked.splice(0).map((prompt) => /Q\d/.exec(prompt)?.[0]);

async function pauseHere(question: number): Promise<void> {
  if (pauseAfter !== question) return;
  pauseAfter = undefined;
  await maestro.pause(id);
}

/** Another version is another contract; the questions are the same. */
const team = (version: number, { hasB = true } = {}): Team =>
  defineTeam("asking", {
    phases: [
      phase("a", { personas: [persona("pa", { run: place.work("pa") })] }),
      ...(hasB ? [phase("b", { personas: [asking(version)] })] : []),
      phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
    ],
  });

const asking = (version: number) =>
  persona("pb", {
    contract: { outputs: { type: "object", title: `version ${version}` } },
    run: place.work("pb", async (context: PersonaContext) => {
      await pauseHere(0);
      for (let question = 1; question <= 4; question += 1) {
        await model.ask(context, `Q${question}`);
        await pauseHere(question);
      }
      if (failures-- > 0) throw new Error("not good enough");
    }),
  });

async function accept(changed: Team, pause?: number): Promise<string> {
  pauseAfter = pause;
  return (await (await maestro.resume(id, { team: changed, acceptChanges: true })).result()).status;
}

async function forkAt(at: string, options: { readonly team?: Team } = {}, pause?: number): Promise<string> {
  ({ id } = await maestro.fork(id, { at, ...options }));
  pauseAfter = pause;
  return (await maestro.executeBatch(id)).status;
}

describe("a recorded answer is not paid again", () => {
  it.each([0, 1])("after a change, a pause after question %i, and a second change", async (question) => {
    expect(await accept(team(2), question)).toBe("paused");
    expect(paid()).toEqual([]);
    expect(await accept(team(3))).toBe("completed");
    expect(paid()).toEqual(["Q3", "Q4"]);
  });

  it.each([0, 1])("after a change, a pause after question %i, and a fork", async (question) => {
    await accept(team(2), question);
    expect(await forkAt("b")).toBe("completed");
    expect(paid()).toEqual(["Q3", "Q4"]);
  });

  it("in a fork with another team that is paused and changed again", async () => {
    expect(await forkAt("b", { team: team(2) }, 1)).toBe("paused");
    expect(await accept(team(3), 3)).toBe("paused");
    expect(paid()).toEqual(["Q3"]);
    expect(await forkAt("b", { team: team(4) }, 0)).toBe("paused");
    expect(await accept(team(5))).toBe("completed");
    expect(paid()).toEqual(["Q4"]);
  });

  it("in a fork with a phase that the team had before", async () => {
    expect(await accept(team(1, { hasB: false }))).toBe("completed");
    expect(await forkAt("b", { team: team(2) })).toBe("completed");
    expect(paid()).toEqual(["Q3", "Q4"]);
  });

  it("unless an attempt failed with it: the next attempt calls the model again", async () => {
    failures = 1;
    expect(await accept(team(2))).toBe("completed");
    expect(paid()).toEqual(["Q3", "Q4", "Q1", "Q2", "Q3", "Q4"]);
  });
});

describe("a recorded step", () => {
  it("is reused when a change is reverted", async () => {
    const steps: string[] = [];
    let pausing = true;
    const stepping = (version: number) =>
      defineTeam("stepping", {
        phases: [
          phase("a", {
            personas: [
              persona("pa", {
                contract: { outputs: { type: "object", title: `version ${version}` } },
                run: place.work("pa", async ({ step }) => {
                  await step("one", () => steps.push(`one of ${version}`));
                  if (pausing) await maestro.pause(id);
                  await step("two", () => steps.push(`two of ${version}`));
                }),
              }),
            ],
          }),
        ],
      });
    ({ id } = await maestro.create(stepping(1), { brief: "x" }));
    await maestro.executeBatch(id);
    await accept(stepping(2));
    pausing = false;
    expect(await accept(stepping(1))).toBe("completed");
    expect(steps).toEqual(["one of 1", "one of 2", "two of 1"]);
  });
});
