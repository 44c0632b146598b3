// Creates a session on a repository, and reports how long the intake took and the most memory that the process had.
const { defineTeam, open, persona, phase } = await import("../../dist/index.js");

const [, , stateDir, git] = process.argv;
const idle = persona("idle", { run: async () => ({ summary: "done" }) });
const team = defineTeam("intake", { phases: [phase("work", { personas: [idle] })] });
const maestro = await open({ stateDir });
const began = performance.now();
await maestro.create(team, { brief: "intake", source: { git } });
const ms = performance.now() - began;
await maestro.close();
process.stdout.write(JSON.stringify({ ms, maxRssMb: process.resourceUsage().maxRSS / 1024 }));
