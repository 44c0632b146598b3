import { expect, it } from "vitest";
import { defineTeam, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { TeamPlace } from "./place.ts";

const { kind } = await describeSandbox();
/** Six processes of 60 MiB each, which stay until they are ended. */
const greedy = `const child = "globalThis.kept = Buffer.alloc(60 * 2 ** 20, 1); setInterval(() => {}, 1000)";
  for (let number = 0; number < 6; number += 1)
    require("node:child_process").spawn("node", ["-e", child], { stdio: "ignore" });
  setInterval(() => {}, 1000);`;
const run = ["node", "-e", greedy];

it.skipIf(kind === "none").each<[string, PersonaOptions]>([
  ["a check", { run: async () => ({ summary: "done" }), contract: { checks: [{ name: "greedy", run }] } }],
  ["an agent", { instructions: "Work.", command: run }],
])("%s whose processes together use too much memory fails with that as the reason", async (_, options) => {
  const place = new TeamPlace();
  const maestro = await place.open({
    commands: { memoryMiB: 300 },
    attempts: { max: 1 },
    rounds: { max: 1 },
  });
  const team = defineTeam("greedy", {
    phases: [phase("only", { personas: [persona("worker", options)] })],
  });
  const session = await maestro.start(team, { brief: "b" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
  const [phaseView] = (await maestro.show(session.id)).phases;
  const [attempt] = phaseView?.personas[0]?.attempts ?? [];
  expect(attempt?.failure?.message).toContain(
    "node was ended: the memory of all its processes passed 300 MiB",
  );
});
