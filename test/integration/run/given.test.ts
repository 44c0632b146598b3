import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

describe("phases from outside", () => {
  it("depend only on their own branch: no file of one branch appears in another", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const plain = (name: string) => persona(name, { run: place.work(name) });
    const looks = (name: string, more = {}) =>
      persona(name, { ...more, run: place.work(name, ({ workspace }) => ({ saw: workspace.list() })) });
    const team = defineTeam("branches", {
      phases: [
        phase("a", { personas: [plain("pa")] }),
        phase("b", { dependsOn: ["a"], personas: [plain("pb")] }),
        phase("c", { dependsOn: ["a"], personas: [plain("pc")] }),
        phase("d", { dependsOn: ["c"], personas: [looks("pd"), looks("pd2", { consumes: ["pc"] })] }),
        phase("e", { dependsOn: ["b", "c"], personas: [looks("pe")] }),
      ],
    });
    const given = { a: { files: { a: "1" } }, b: { files: { b: "1" } }, c: { files: { c: "1" } } };
    const { results } = await (await maestro.start(team, { brief: "x", given })).result();
    expect(results["d"]?.["pd"]?.outputs).toEqual({ saw: ["a", "c"] });
    expect(results["d"]?.["pd2"]?.outputs).toEqual({ saw: ["c"] });
    expect(results["e"]?.["pe"]?.outputs).toEqual({ saw: ["a", "b", "c"] });
  });

  it("may contain any bytes", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]);
    const team = defineTeam("bytes", {
      phases: [
        phase("a", { personas: [persona("pa", { run: place.work("pa") })] }),
        phase("b", {
          personas: [
            persona("pb", {
              run: place.work("pb", async ({ workspace }) => ({
                read: (await workspace.read("logo.png")).toString("hex"),
              })),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x", given: { a: { files: { "logo.png": bytes } } } });
    const { results } = await session.result();
    expect(results["b"]?.["pb"]?.outputs).toEqual({ read: Buffer.from(bytes).toString("hex") });
  });

  it("and edited ones are judged by the contracts of the phase, and the gate has the score", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const outputs = { type: "object", required: ["tables"], properties: { tables: { type: "integer" } } };
    const team = (checks: readonly { name: string; run: string[]; weight?: number }[] = []) =>
      defineTeam("held", {
        phases: [
          phase("a", {
            gate: 1,
            review: true,
            personas: [
              persona("pa", {
                contract: { outputs, checks, deliverables: [{ name: "d", files: ["must.md"] }] },
                run: place.work("pa", async ({ workspace }) => {
                  await workspace.write("must.md", "x");
                  return { tables: 1 };
                }),
              }),
            ],
          }),
          phase("b", { personas: [persona("pb", { run: place.work("pb") })] }),
        ],
      });
    const gateOf = async (id: string) => (await maestro.show(id)).phases[0]?.gate;
    const given = async (files: Record<string, string>, tables: unknown, checks = team()) => {
      const a = { files, outputs: { tables } } as never;
      const session = await maestro.start(checks, { brief: "x", given: { a } });
      await session.result();
      return gateOf(session.id);
    };
    expect(await given({}, 1)).toEqual({ threshold: 1, score: 0.5, verdict: "failed" });
    expect(await given({ "must.md": "x" }, "three")).toEqual({ threshold: 1, score: 0.5, verdict: "failed" });
    expect(await given({ "must.md": "x" }, 3)).toEqual({ threshold: 1, score: 1, verdict: "passed" });
    const command = team([{ name: "c", run: ["true"] }]);
    expect(await given({ "must.md": "x" }, 3, command)).toEqual({
      threshold: 1,
      score: 2 / 3,
      verdict: "unverified",
    });
    expect(await given({}, 3, command)).toEqual({ threshold: 1, score: 1 / 3, verdict: "failed" });
    const heavy = team([{ name: "c", run: ["true"], weight: 8 }]);
    expect(await given({ "must.md": "x" }, 3, heavy)).toMatchObject({ score: 0.2, verdict: "unverified" });
    const session = await maestro.start(team(), { brief: "x" });
    await session.result();
    const resumed = await maestro.resume(session.id, { edits: { a: { outputs: { tables: "none" } } } });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    expect(await gateOf(session.id)).toEqual({ threshold: 1, score: 0.5, verdict: "failed" });
  });

  it("with only commands to judge them list the commands that did not run and are unverified", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const contract = { checks: [{ name: "tests", run: ["true"] }] };
    const team = defineTeam("commands", {
      phases: [
        phase("a", { personas: [persona("pa", { contract, run: place.work("pa") })] }),
        phase("b", { personas: [persona("pb", { run: place.work("pb") })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x", given: { a: { outputs: {} } } });
    await session.result();
    const { phases } = await maestro.show(session.id);
    expect(phases[0]?.gate).toEqual({ threshold: null, score: 0, verdict: "unverified" });
    expect(phases[0]?.checks).toMatchObject([
      { persona: "pa", results: [{ name: "tests", status: "not-run" }] },
    ]);
  });
});
