import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defineTeam, type Maestro, open, persona, phase } from "../../../src/index.ts";
import { projectAgain, readExport, writeExport } from "../../support/sealed-export.ts";

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
    // Signals after the last checkpoint are lost with the rows.
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

test("usage that an import claims counts in this machine's day only if a person trusts it", async () => {
  const [here, there] = [await newDirectory(), await newDirectory()];
  const [file, forged] = [join(there, "session.export"), join(there, "forged.export")];
  await inOneLife(here, async (maestro) => {
    const { id } = await (await maestro.start(team, { brief: "b" })).result();
    await maestro.exportCheckpoints(id, file);
  });
  // As a stranger could: the calls are those of a model that costs money.
  const { rest, contents } = readExport(file);
  const paid = contents.map(({ usage = [], rows, ...content }) => ({
    ...content,
    rows: rows.map((row) =>
      row.kind === "checkpoint.sealed"
        ? { ...row, body: row.body.replaceAll('"model":"simulated"', '"model":"openai/gpt-5"') }
        : row,
    ),
    usage: usage.map((each) => ({ ...each, model: "openai/gpt-5" })),
  }));
  writeExport(forged, rest, projectAgain(paid));
  const dayOf = async (trust: boolean) => {
    const maestro = await open({
      stateDir: join(there, `state-${trust}`),
      teams: [team],
      model: "simulated",
      budget: { dayTokens: 1_000_000 },
    });
    onTestFinished(() => maestro.close());
    const { session } = await maestro.importCheckpoints(forged, { trust });
    const { total } = await maestro.usage({ by: "session", session });
    expect(total.inputTokens, "its own usage is shown").toBeGreaterThan(0);
    const own = await maestro.create(team, { brief: "mine" });
    return (await maestro.budgets(own.id)).find(({ level }) => level === "day")?.used.tokens;
  };
  expect(await dayOf(false)).toBe(0);
  expect(await dayOf(true)).toBeGreaterThan(0);
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
