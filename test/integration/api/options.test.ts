import { describe, expect, onTestFinished, test } from "vitest";
import { defineTeam, type Maestro, open, persona, phase } from "../../../src/index.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const worker = persona("worker", { run: () => ({ summary: "done" }) });
const team = defineTeam("team", { phases: [phase("one", { personas: [worker] })] });

async function openHere(): Promise<Maestro> {
  const maestro = await open({ stateDir: temporaryDirectory(), teams: [team] });
  onTestFinished(() => maestro.close());
  return maestro;
}

describe("unknown options", () => {
  test.each<[string, (maestro: Maestro) => Promise<unknown>, string]>([
    [
      "start",
      (m) => m.start(team, wrong({ kee: "k" })),
      'A session has no option "kee". Did you mean "key"?',
    ],
    ["queue", (m) => m.queue(team, wrong({ beforeDrive: () => {} })), 'no option "beforeDrive"'],
    ["create", (m) => m.create(team, wrong({ only: ["one"] })), 'no option "only"'],
    ["start, without any", (m) => m.start(team, undefined as never), "A session takes an object of options"],
    [
      "start, a budget",
      (m) => m.start(team, wrong({ budget: { usdd: 1 } })),
      'A budget has no option "usdd"',
    ],
    ["start, a gift", (m) => m.start(team, wrong({ given: { one: { outpts: {} } } })), '"outpts"'],
    ["resume", (m) => m.resume("any", wrong({ edit: {} })), 'A resume has no option "edit"'],
    ["plan", (m) => m.plan("any", wrong({ edit: {} })), 'A resume has no option "edit"'],
    ["fork", (m) => m.fork("any", wrong({ at: "one", fressh: true })), 'Did you mean "fresh"?'],
    ["fork, of no phase", (m) => m.fork("any", {} as never), "A fork needs the first phase"],
    ["executeMixed", (m) => m.executeMixed("any", wrong({ pauseafter: [] })), '"pauseAfter"?'],
    ["prune", (m) => m.prune(wrong({ keep: 0, dryrun: true })), 'Did you mean "dryRun"?'],
    ["usage", (m) => m.usage({ by: "day", sinse: 5 } as never), 'Did you mean "since"?'],
    ["usage, by nothing", (m) => m.usage({} as never), "A report of usage is grouped by nothing."],
    [
      "usage, by no group",
      (m) => m.usage({ by: "hour" } as never),
      'A report of usage is grouped by "hour".',
    ],
    ["usage, since no time", (m) => m.usage({ by: "day", since: "7d" } as never), "it must be a number"],
    [
      "usageSeries, by nothing",
      (m) => m.usageSeries({} as never),
      "A report of usage is grouped by nothing.",
    ],
    ["setBudget", (m) => m.setBudget("any", wrong({ token: 5 })), 'Did you mean "tokens"?'],
    ["start, no team", (m) => m.start("team" as never, { brief: "b" }), "The team is not a team definition"],
    ["start, a key that is no text", (m) => m.start(team, wrong({ key: 5 })), "The key must have 1 to"],
  ])("are refused before anything is done: %s", async (_, act, why) => {
    const maestro = await openHere();
    await expect(act(maestro)).rejects.toThrow(why);
    expect(await maestro.sessions()).toEqual([]);
  });
});

test.each([
  { tokens: -4 },
  { tokens: "5" },
  { tokens: 1.5 },
  { tokens: Infinity },
  { tokens: 0 },
  { usd: -1 },
  { usd: "1" },
])("an invalid limit is refused before the session exists: %j", async (budget) => {
  const maestro = await openHere();
  const options = wrong({ budget });
  for (const begun of [
    maestro.start(team, options),
    maestro.queue(team, options),
    maestro.create(team, options),
  ])
    await expect(begun).rejects.toThrow(/^A budget has (tokens|usd) of /);
  expect(await maestro.sessions()).toEqual([]);
});

test("teams with equal names, and values that are not teams, are refused", async () => {
  const stateDir = temporaryDirectory();
  await expect(open({ stateDir, teams: [team, team] })).rejects.toThrow('Two teams have the name "team".');
  await expect(open({ stateDir, teams: team as never })).rejects.toThrow("teams is not a list");
  await expect(open({ stateDir, teams: [{}] as never })).rejects.toThrow("The team is not a team definition");
});

/** As a caller that is not type-checked may give it. */
function wrong(options: object): never {
  return { ...options, brief: "b" } as never;
}

test("a key that is the beginning of another session's id is refused, and the session of its own key is found", async () => {
  const maestro = await openHere();
  const first = await maestro.start(team, { brief: "b", key: "mine" });
  await first.result();
  for (const length of [4, 10, 25]) {
    const key = first.id.slice(0, length);
    const refused = `The key "${key}" is the beginning of the id of session ${first.id}.`;
    await expect(maestro.start(team, { brief: "b", key })).rejects.toThrow(refused);
    await expect(maestro.queue(team, { brief: "b", key })).rejects.toThrow(refused);
    await expect(maestro.fork("mine", { at: "one", fresh: true, key })).rejects.toThrow(refused);
  }
  expect(await maestro.sessions()).toHaveLength(1);
  expect((await maestro.start(team, { brief: "b", key: "mine" })).id).toBe(first.id);
});
