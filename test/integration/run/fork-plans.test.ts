import { describe, expect, it } from "vitest";
import {
  defineTeam,
  type ForkOptions,
  type Maestro,
  type PersonaContext,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const actions = ({ personas }: Awaited<ReturnType<Maestro["planFork"]>>) =>
  Object.fromEntries(personas.map(({ persona, action }) => [persona, action]));

const writes =
  (path: string, text = `${path}\n`) =>
  ({ workspace }: PersonaContext) =>
    workspace.write(path, text);

/** The plan of a fork, and the personas that then worked. */
async function planAndRun(place: TeamPlace, team: Team, request: ForkOptions) {
  const maestro = await place.open();
  const session = await maestro.start(team, { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "completed" });
  place.ran.length = 0;
  const plan = actions(await maestro.planFork(session.id, request));
  const fork = await maestro.fork(session.id, request);
  const forked = await maestro.resume(fork.id, request.team === undefined ? {} : { team: request.team });
  expect(await forked.result()).toMatchObject({ status: "completed" });
  return { plan, ran: place.ran };
}

describe("the plan of a fork", () => {
  const edit = { at: "b", edits: { a: { outputs: { pq: { value: 2 } } } } };

  /** pb rests on what pq said; with the edit it changes the file of pa, which is all that pc reads. */
  function meddling(place: TeamPlace, write?: readonly string[]) {
    return defineTeam("meddling", {
      phases: [
        phase("a", {
          personas: [
            persona("pa", { run: place.work("pa", writes("pa.md")) }),
            persona("pq", { run: place.work("pq", () => ({ value: 1 })) }),
          ],
        }),
        phase("b", {
          personas: [
            persona("pb", {
              consumes: ["pa", "pq"],
              ...(write !== undefined && { policy: { write } }),
              run: place.work("pb", async ({ context, workspace }) => {
                const value = context.results["a"]?.["pq"]?.outputs["value"];
                await workspace.write("pb.md", JSON.stringify(value));
                if (value === 2 && write === undefined) await workspace.write("pa.md", "by pb\n");
              }),
            }),
          ],
        }),
        phase("c", {
          personas: [
            persona("pc", { consumes: ["pa"], run: place.work("pc") }),
            persona("blind", { consumes: [], run: place.work("blind") }),
          ],
        }),
      ],
    });
  }

  it("shows may-run for a persona that sees files which an earlier one may change", async () => {
    const place = new TeamPlace();
    const { plan, ran } = await planAndRun(place, meddling(place), edit);
    expect(plan).toEqual({ pa: "kept", pq: "kept", pb: "runs", pc: "may-run", blind: "reused" });
    expect(ran).toEqual(["pb", "pc"]);
  });

  it("is certain where no working persona may write the files that another sees", async () => {
    const place = new TeamPlace();
    const { plan, ran } = await planAndRun(place, meddling(place, ["pb.*"]), edit);
    expect(plan).toEqual({ pa: "kept", pq: "kept", pb: "runs", pc: "reused", blind: "reused" });
    expect(ran).toEqual(["pb"]);
  });

  it("considers all earlier phases: a persona that reads everything may run or be reused", async () => {
    const place = new TeamPlace();
    const line = (changed: boolean) =>
      defineTeam("line", {
        phases: [
          phase("a", {
            personas: [persona("pa", { ...(changed && { consumes: [] }), run: place.work("pa") })],
          }),
          phase("b", { personas: [persona("pb", { consumes: [], run: place.work("pb") })] }),
          phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
        ],
      });
    const { plan, ran } = await planAndRun(place, line(false), { at: "a", team: line(true) });
    expect(plan).toEqual({ pa: "runs", pb: "reused", pc: "may-run" });
    expect(ran).toEqual(["pa"]);
  });

  /** a, then b and c beside each other, then d; b changes the file of a. */
  function diamond(place: TeamPlace) {
    return defineTeam("diamond", {
      phases: [
        phase("a", { personas: [persona("pa", { run: place.work("pa", writes("shared.md", "one\n")) })] }),
        phase("b", {
          dependsOn: ["a"],
          personas: [persona("pb", { run: place.work("pb", writes("shared.md", "two\n")) })],
        }),
        phase("c", {
          dependsOn: ["a"],
          personas: [persona("pc", { run: place.work("pc", writes("c.md")) })],
        }),
        phase("d", {
          dependsOn: ["b", "c"],
          personas: [
            persona("pd", { run: place.work("pd") }),
            persona("blind", { consumes: [], run: place.work("blind") }),
          ],
        }),
      ],
    });
  }

  it("merges branches as the run does: where nothing changed, nothing runs", async () => {
    const place = new TeamPlace();
    const { plan, ran } = await planAndRun(place, diamond(place), { at: "b" });
    expect(Object.values(plan)).not.toContain("runs");
    expect(plan).toMatchObject({ pa: "kept", pb: "reused", pd: "reused", blind: "reused" });
    expect(ran).toEqual([]);
  });

  it("includes that branches may clash where they meet, which changes the input of that phase", async () => {
    const place = new TeamPlace();
    const { plan } = await planAndRun(place, diamond(place), { at: "b", fresh: true });
    expect(plan).toMatchObject({ pa: "kept", pb: "runs", pd: "runs", blind: "runs" });
    const edits = { a: { outputs: { said: "more" } } };
    const other = new TeamPlace();
    const again = await planAndRun(other, diamond(other), { at: "b", edits });
    expect(again.plan).toMatchObject({ pb: "runs", pd: "may-run", blind: "may-run" });
  });
});

describe("the plan of a resume", () => {
  it("shows that reused work which did not fit runs again", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    let pause: (() => Promise<unknown>) | undefined;
    const team = defineTeam("clash", {
      phases: [
        phase("a", {
          personas: [
            persona("pa", { run: place.work("pa", () => ({ path: "one.md" })) }),
            persona("pq", { run: place.work("pq") }),
          ],
        }),
        phase("b", {
          personas: [
            persona("first", {
              consumes: ["pa"],
              run: place.work("first", async ({ context, workspace }) => {
                const path = context.results["a"]?.["pa"]?.outputs["path"] as string;
                await workspace.write(path, "first\n");
              }),
            }),
            persona("second", {
              consumes: ["pq"],
              run: place.work("second", async ({ workspace, step }) => {
                await pause?.();
                await step("go on", () => null);
                await workspace.write("two.md", "second\n");
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const edits = { a: { outputs: { pa: { path: "two.md" } } } };
    const fork = await maestro.fork(session.id, { at: "b", edits });
    pause = () => maestro.pause(fork.id);
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "paused" });
    expect(actions(await maestro.plan(fork.id))).toMatchObject({ first: "kept", second: "runs" });
  });
});
