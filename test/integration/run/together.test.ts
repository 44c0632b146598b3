import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const together = (place: TeamPlace, acts: Record<string, (context: PersonaContext) => unknown>) =>
  defineTeam("together", {
    phases: [
      phase("base", {
        personas: [
          persona("founder", {
            run: place.work("founder", ({ workspace }) => workspace.write("list.md", "a\nb\nc\nd\ne\n")),
          }),
        ],
      }),
      phase("build", {
        personas: Object.entries(acts).map(([name, act]) => persona(name, { run: place.work(name, act) })),
      }),
    ],
  });

const replace = (find: string, by: string) => (context: PersonaContext) =>
  context.workspace.edit("list.md", [{ find, replace: by }]);

describe("parallel personas", () => {
  it("each work on their own files, which are merged in the order of declaration", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = together(place, { one: replace("a\n", "A\n"), two: replace("e\n", "E\n") });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { artifacts } = await maestro.show(session.id);
    expect(artifacts).toMatchObject([{ path: "list.md", persona: "two", phase: "build" }]);
    expect(place.ran.toSorted()).toEqual(["founder", "one", "two"]);
  });

  it("whose changes clash: the later one gets a counted attempt on the merged files, with both versions", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const reasons: string[] = [];
    const team = together(place, {
      one: replace("c\n", "one\n"),
      two: async (context) => {
        reasons.push(...context.failures.map(({ message }) => message));
        const text = await context.workspace.readText("list.md");
        return replace(
          text.includes("one\n") ? "one\n" : "c\n",
          text.includes("one\n") ? "one\ntwo\n" : "two\n",
        )(context);
      },
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran.toSorted()).toEqual(["founder", "one", "two", "two"]);
    expect(reasons).toEqual([expect.stringMatching(/changes of two clash with those of one: list\.md/)]);
    const { phases } = await maestro.show(session.id);
    const attempts = phases[1]?.personas[1]?.attempts;
    expect(attempts).toMatchObject([
      {
        attempt: 1,
        status: "failed",
        failure: { category: "CONTRACT", details: expect.stringMatching(/one[\s\S]*two/) as string },
      },
      { attempt: 2, status: "completed" },
    ]);
  });

  it("that clash forever end in help after six attempts, and the others stay completed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    let turn = 0;
    const stubborn = async ({ workspace }: PersonaContext) => {
      turn += 1;
      await workspace.write("list.md", `two ${turn}\n`);
      await workspace.write("other.md", `${turn}`);
    };
    const team = together(place, {
      one: replace("c\n", "one\n"),
      two: async (context) => {
        if (context.failures.length > 0) throw new Error("I do not see what is wrong");
        return stubborn(context);
      },
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    expect(place.ran.filter((name) => name === "two")).toHaveLength(6);
    expect(place.ran.filter((name) => name === "one")).toHaveLength(1);
  });

  it("in groups: a consumer of its own phase starts after its provider, on its files, and sees nothing else", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const seen: Record<string, readonly string[]> = {};
    const team = defineTeam("groups", {
      phases: [
        phase("build", {
          personas: [
            persona("page", {
              consumes: ["api"],
              run: place.work("page", async ({ workspace, context }) => {
                seen["page"] = [...workspace.list(), ...Object.keys(context.results["build"] ?? {})];
                await workspace.write("page.js", "page\n");
              }),
            }),
            persona("api", { run: place.work("api", ({ workspace }) => workspace.write("api.js", "api\n")) }),
            persona("other", {
              run: place.work("other", ({ workspace }) => workspace.write("other.js", "other\n")),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(seen["page"]).toEqual(["api.js", "api"]);
    expect(place.ran.at(-1)).toBe("page");
    expect((await maestro.show(session.id)).artifacts.map(({ path }) => path)).toEqual([
      "api.js",
      "other.js",
      "page.js",
    ]);
  });

  it("never exceed the team's limit, and completed ones stay completed when a sibling fails", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
    let now = 0;
    let most = 0;
    const work = (name: string) =>
      persona(name, {
        run: place.work(name, async ({ step }) => {
          now += 1;
          most = Math.max(most, now);
          await step("work", () => new Promise((resolve) => setTimeout(resolve, 5)));
          now -= 1;
          if (name === "p3" && place.ran.filter((ran) => ran === "p3").length === 1)
            throw new Error("not today");
        }),
      });
    const names = Array.from({ length: 7 }, (_, index) => `p${index}`);
    const team = defineTeam("many", { parallel: 3, phases: [phase("all", { personas: names.map(work) })] });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    expect(most).toBe(3);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(place.ran.toSorted()).toEqual([...names, "p3"].toSorted());
  });
});
