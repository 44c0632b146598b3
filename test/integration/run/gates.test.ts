import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const writes =
  (...files: readonly (readonly [string, string])[]) =>
  async ({ workspace }: PersonaContext) => {
    for (const [path, content] of files) await workspace.write(path, content);
  };

describe("a contract", () => {
  it("fails an attempt that does not deliver, and the next attempt gets the reason and the files", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const reasons: string[] = [];
    const team = defineTeam("contract", {
      phases: [
        phase("docs", {
          personas: [
            persona("writer", {
              contract: {
                deliverables: [{ name: "docs", files: ["docs/*.md"] }],
                checks: [{ name: "title", run: ["grep", "-q", "^# ", "docs/a.md"] }],
              },
              run: place.work("writer", async (context) => {
                reasons.push(...context.failures.map(({ message }) => message));
                const tries = context.failures.length;
                if (tries === 1) await context.workspace.write("docs/a.md", "no title\n");
                if (tries === 2)
                  await context.workspace.edit("docs/a.md", [{ find: "no title", replace: "# A title" }]);
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(reasons).toMatchObject([
      expect.stringMatching(/docs: no file matches docs\/\*\.md/),
      expect.stringMatching(/docs: no file matches docs\/\*\.md/),
      expect.stringMatching(/title: grep ended with exit code 1/),
    ]);
    const { phases } = await maestro.show(session.id);
    expect(phases[0]).toMatchObject({ gate: { threshold: null, score: 1, verdict: "passed" } });
  });

  it("that has nothing to check leaves the phase unverified, not passed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("plain", {
      phases: [phase("work", { personas: [persona("worker", { run: place.work("worker") })] })],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(session.id)).phases[0]?.gate).toMatchObject({
      verdict: "unverified",
      score: null,
    });
  });

  it("checks that outputs fit its schema", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const outputs = { type: "object", properties: { tables: { type: "integer" } }, required: ["tables"] };
    const team = defineTeam("schema", {
      phases: [
        phase("design", {
          personas: [
            persona("architect", {
              healing: "off",
              contract: { outputs },
              run: place.work("architect", ({ failures }) => ({
                tables: failures.length === 0 ? "three" : 3,
              })),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    const { status, results } = await session.result();
    expect(status).toBe("completed");
    expect(results["design"]?.["architect"]?.outputs).toEqual({ tables: 3 });
    expect(place.ran).toHaveLength(2);
  });
});

describe("a gate", () => {
  const gated = (place: TeamPlace, onFail: "review" | "warn") =>
    defineTeam("gated", {
      phases: [
        phase("docs", {
          gate: { threshold: 0.75, onFail },
          personas: [
            persona("writer", {
              contract: {
                deliverables: [{ name: "docs", files: ["a.md"] }],
                checks: [
                  { name: "there", run: ["test", "-s", "a.md"], weight: 1 },
                  { name: "nice", run: ["grep", "-q", "nice", "a.md"], must: false, weight: 1 },
                  { name: "gone", run: ["no-such-program"], must: false, weight: 1 },
                ],
              },
              run: place.work("writer", writes(["a.md", "plain\n"])),
            }),
          ],
        }),
        phase("next", { personas: [persona("reader", { run: place.work("reader") })] }),
      ],
    });

  it("that is not reached parks for review; checks that could not run count against it", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(gated(place, "review"), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    const [docs] = (await maestro.show(session.id)).phases;
    expect(docs?.gate).toEqual({ threshold: 0.75, score: 0.5, verdict: "failed" });
    expect(docs?.checks[0]?.results.map(({ name, status }) => [name, status])).toEqual([
      ["docs", "passed"],
      ["there", "passed"],
      ["nice", "failed"],
      ["gone", "not-run"],
    ]);
    expect(place.ran).toEqual(["writer"]);
    await maestro.approve(session.id, { note: "good enough" });
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
  });

  it("that only warns lets the session continue and records that it failed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(gated(place, "warn"), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(session.id)).phases[0]?.gate).toMatchObject({ verdict: "failed" });
  });

  it("judges the merged files: only a persona whose check others broke runs again", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const check = (name: string) => ({
      checks: [{ name, run: ["sh", "-c", "test $(ls *.txt | wc -l) -le 2"] }],
    });
    const team = defineTeam("merged", {
      phases: [
        phase("both", {
          personas: [
            persona("one", {
              contract: check("few"),
              run: place.work("one", writes(["1.txt", "1"], ["2.txt", "2"])),
            }),
            persona("two", {
              run: place.work("two", writes(["3.txt", "3"])),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    expect(place.ran.filter((name) => name === "two")).toHaveLength(1);
    expect(place.ran.filter((name) => name === "one")).toHaveLength(6);
  });
});
