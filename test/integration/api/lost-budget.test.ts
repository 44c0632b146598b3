import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defineTeam, type Maestro, open, persona, phase } from "../../../src/index.ts";

const writer = (name: string) => persona(name, { instructions: "Write one line." });
const team = defineTeam("writers", {
  phases: ["draft", "review", "print"].map((name) => phase(name, { personas: [writer(`${name}er`)] })),
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "maestro-lost-budget-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function inOneLife<T>(stateDir: string, act: (maestro: Maestro) => Promise<T>): Promise<T> {
  const maestro = await open({ stateDir, teams: [team], model: "simulated" });
  try {
    return await act(maestro);
  } finally {
    await maestro.close();
  }
}

const spendingOf = (maestro: Maestro, id: string) =>
  Promise.all([
    maestro.budgets(id),
    maestro.usage({ by: "persona", session: id }),
    maestro.usage({ by: "model", session: id }),
  ]);

async function loseDatabase(stateDir: string): Promise<void> {
  for (const file of await readdir(stateDir))
    if (file.startsWith("maestro.db")) await rm(join(stateDir, file));
}

test("a lost database loses neither limits nor usage", async () => {
  const stateDir = await newDirectory();
  const { id, before } = await inOneLife(stateDir, async (maestro) => {
    const options = { brief: "b", until: "review", budget: { tokens: 100_000 } } as const;
    const { id } = await (await maestro.start(team, options)).result();
    await maestro.setBudget(id, { phase: "print", tokens: 5_000 });
    return { id, before: await spendingOf(maestro, id) };
  });
  const [budgets, usage] = before;
  expect(usage.total.inputTokens).toBeGreaterThan(0);
  await loseDatabase(stateDir);
  await inOneLife(stateDir, async (maestro) => {
    const [found, ...used] = await spendingOf(maestro, id);
    expect(used).toEqual(before.slice(1));
    // What was said after the last checkpoint is lost with the rows.
    const known = budgets.filter(({ level }) => level !== "phase");
    expect(found).toEqual(known);
    expect(found[0]).toMatchObject({ level: "session", budget: { tokens: 100_000 } });
    expect(found[0]?.used.tokens).toBeGreaterThan(0);
    const ended = await (await maestro.resume(id)).result();
    expect(ended.status).toBe("completed");
    const [after] = await maestro.budgets(id);
    expect(after?.used.tokens).toBeGreaterThan(found[0]?.used.tokens ?? Infinity);
  });
});

test("an exported session keeps its limits and its usage on another machine", async () => {
  const [here, there] = [await newDirectory(), await newDirectory()];
  const file = join(there, "session.export");
  const { id, before } = await inOneLife(here, async (maestro) => {
    const { id } = await (await maestro.start(team, { brief: "b", until: "draft" })).result();
    await maestro.setBudget(id, { persona: "printer", tokens: 7_000 });
    await maestro.executePhase(id, "review");
    await maestro.exportCheckpoints(id, file);
    return { id, before: await spendingOf(maestro, id) };
  });
  await inOneLife(join(there, "state"), async (maestro) => {
    await maestro.importCheckpoints(file, { trust: true });
    const [budgets, ...used] = await spendingOf(maestro, id);
    expect(used).toEqual(before.slice(1));
    expect(budgets).toEqual(before[0]);
    expect(budgets.find(({ level }) => level === "persona")).toMatchObject({ budget: { tokens: 7_000 } });
  });
});

test("the budget of a start is part of the first checkpoint", async () => {
  const stateDir = await newDirectory();
  const id = await inOneLife(stateDir, async (maestro) => {
    const { id } = await maestro.queue(team, { brief: "b", budget: { tokens: 100_000 } });
    return id;
  });
  await loseDatabase(stateDir);
  await inOneLife(stateDir, async (maestro) => {
    expect(await maestro.budgets(id)).toMatchObject([{ level: "session", budget: { tokens: 100_000 } }]);
  });
});
