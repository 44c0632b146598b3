import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { counted } from "./counted-model.ts";
import { TeamPlace } from "./place.ts";

describe("a persona that runs again because its team has changed", () => {
  it("does not pay again for a recorded call, not even in another process", async () => {
    const place = new TeamPlace();
    const { asked, ask } = counted();
    const team = (consumes: readonly string[] | undefined) =>
      defineTeam("talk", {
        phases: [
          phase("a", {
            personas: ["pa", "other"].map((name) =>
              persona(name, {
                run: place.work(name, (context) => ask(context, `Hello from ${name}`)),
              }),
            ),
          }),
          phase("b", {
            personas: [
              persona("pb", {
                ...(consumes !== undefined && { consumes }),
                run: place.work("pb", async (context) => {
                  await ask(context, "What was asked before");
                  await ask(context, consumes === undefined ? "What is new: all" : "What is new: pa");
                }),
              }),
            ],
          }),
          phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
        ],
      });
    const maestro = await place.open();
    const session = await maestro.start(team(undefined), { brief: "x", until: "b" });
    expect(await session.result()).toMatchObject({ status: "paused" });
    expect(asked).toHaveLength(4);
    await maestro.close();
    const later = await place.open();
    const resumed = await later.resume(session.id, { team: team(["pa"]), acceptChanges: true });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    expect(place.ran.filter((name) => name === "pb")).toHaveLength(2);
    expect(asked).toHaveLength(5);
    expect(asked.at(-1)).toContain("What is new: pa");
    const usage = await later.usage({ by: "persona", session: session.id });
    expect(usage.rows.find(({ name }) => name === "pb")).toMatchObject({ calls: 3 });
  });
});
