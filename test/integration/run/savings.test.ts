import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTeam, type Maestro, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const long = Array.from({ length: 400 }, (_, line) => `line ${line} of a file that is not written twice`);
const write = { tool: "write_file", input: { path: "a.txt", content: long.join("\n") } };
const edit = (find: string, replace: string) => ({
  tool: "edit_file",
  input: { path: "a.txt", edits: [{ find, replace }] },
});
const submit = { tool: "submit", input: { summary: "done" } };
const cached = { usage: { input: 1_000, cachedInput: 900, output: 10 } };

/** Says what the turns say, and is stopped in the middle if the test wants it. */
async function openWith(place: TeamPlace, turns: readonly object[]): Promise<Maestro> {
  const script = join(place.stateDir, "script.json");
  writeFileSync(script, JSON.stringify({ personas: { editor: [turns] } }));
  return place.open({ script });
}

const team = defineTeam("editors", {
  model: "simulated",
  phases: [phase("work", { personas: [persona("editor", { instructions: "Edit." })] })],
});

it("edits and the provider's cache save the reported amounts once, and a fork saves the work it takes over", async () => {
  const place = new TeamPlace();
  const turns = [
    { calls: [write] },
    { calls: [edit("line 7 ", "line seven ")], ...cached },
    { calls: [submit] },
  ];
  const maestro = await openWith(place, turns);
  const session = await maestro.start(team, { brief: "b" });
  expect(await session.result()).toMatchObject({ status: "completed" });
  const { usage } = await maestro.show(session.id);
  const bytes = long.join("\n").length;
  expect(usage.saved.patch.tokens).toBeGreaterThan(bytes / 4 - 50);
  expect(usage.saved.patch.tokens).toBeLessThan(bytes / 4);
  expect(usage.saved.patch.usd).toBeGreaterThan(0);
  expect(usage.saved.cache.tokens).toBe(900);
  expect(usage.saved.cache.usd).toBeCloseTo((900 * (3 - 0.3)) / 1e6, 6);
  await (await maestro.resume(session.id)).result();
  expect((await maestro.show(session.id)).usage.saved).toEqual(usage.saved);
  const fork = await maestro.fork(session.id, { at: "work" });
  await (await maestro.resume(fork.id)).result();
  const forked = (await maestro.show(fork.id)).usage;
  expect(forked).toMatchObject({ calls: 0, saved: { patch: { tokens: 0 } } });
  expect(forked.saved.reuse.tokens).toBe(usage.inputTokens + usage.outputTokens);
});

it("an edit that cost more than a rewrite is a loss, not zero", async () => {
  const place = new TeamPlace();
  const before = { tool: "write_file", input: { path: "a.txt", content: "x".repeat(4_000) } };
  const whole = edit("x".repeat(4_000), "y".repeat(4_000));
  const turns = [{ calls: [before] }, { calls: [whole] }, { calls: [submit] }];
  const maestro = await openWith(place, turns);
  const session = await maestro.start(team, { brief: "b" });
  await session.result();
  const { tokens, usd } = (await maestro.show(session.id)).usage.saved.patch;
  expect(tokens).toBeLessThan(-900);
  expect(usd).toBeLessThan(0);
});
