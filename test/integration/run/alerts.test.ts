import { describe, expect, it, onTestFinished } from "vitest";
import { defineTeam, persona, phase, type SessionEvent } from "../../../src/index.ts";
import { LoopbackWebhook } from "../../support/loopback-webhook.ts";
import { answer, ask, ownModel } from "./own-models.ts";
import { TeamPlace } from "./place.ts";

const asking = (tokens: number) => ownModel(async () => answer(tokens, 0));

/** Two personas, one after the other, that take so many tokens each. */
const team = (first: number, second: number, budget?: { tokens?: number; usd?: number }) =>
  defineTeam("pair", {
    ...(budget && { budget }),
    phases: [
      phase("one", {
        personas: [
          persona("ada", {
            run: async (context) => {
              await ask(asking(first), context, "first");
              return { summary: "done" };
            },
          }),
        ],
      }),
      phase("two", {
        personas: [
          persona("bob", {
            run: async (context) => {
              await ask(asking(second), context, "second");
              await ask(asking(1), context, "third");
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });

const alertsIn = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.kind === "budget.alerted" ? [event.alert] : []));

describe("a warning about a budget", () => {
  it("is sent once at 80 percent: as an event, in the journal, and to the webhook with its signature", async () => {
    const webhook = await LoopbackWebhook.start();
    onTestFinished(() => webhook.server.close());
    const place = new TeamPlace();
    const maestro = await place.open({ webhook: webhook.options });
    const session = await maestro.start(team(9_000, 100, { tokens: 11_000 }), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(alertsIn(place.events)).toMatchObject([
      { kind: "threshold", level: "session", name: session.id, unit: "tokens", limit: 11_000, used: 9_000 },
    ]);
    await maestro.close();
    expect(webhook.received.map(({ body }) => body)).toMatchObject([
      {
        type: "budget.alerted",
        session: session.id,
        text: "budget of the session: 9,000 tokens of 11,000 tokens are gone",
        alert: { kind: "threshold", level: "session", unit: "tokens", limit: 11_000, used: 9_000 },
      },
    ]);
    // A reader that comes later finds it.
    const later = await place.open();
    expect(await later.alerts(10)).toMatchObject([{ session: session.id, kind: "threshold" }]);
  });

  it("is not sent to an internal address without permission, and the notice names the setting", async () => {
    const webhook = await LoopbackWebhook.start();
    onTestFinished(() => webhook.server.close());
    const place = new TeamPlace();
    const url = webhook.options.url.replace("http:", "https:");
    const maestro = await place.open({ webhook: { ...webhook.options, url, allowInternal: false } });
    const session = await maestro.start(team(9_000, 100, { tokens: 11_000 }), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    await maestro.close();
    expect(place.notices.join("\n")).toMatch(
      /could not be posted to the webhook.*not on the public internet.*Set webhook\.allowInternal/,
    );
    expect(webhook.server.requests).toEqual([]);
  });

  it("is reported when the webhook rejects it, and the session continues", async () => {
    const webhook = await LoopbackWebhook.start();
    const place = new TeamPlace();
    const maestro = await place.open({ webhook: webhook.options });
    await webhook.server.close();
    const session = await maestro.start(team(9_000, 100, { tokens: 11_000 }), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    await maestro.close();
    expect(place.notices.join("\n")).toMatch(/could not be posted to the webhook/);
  });

  it("is sent as soon as past runs predict that the budget will not be enough", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    await (await maestro.start(team(1_000, 50_000), { brief: "b" })).result();
    place.events.length = 0;
    const session = await maestro.start(team(1_000, 50_000, { tokens: 40_000 }), { brief: "b" });
    await session.result();
    expect(alertsIn(place.events)[0]).toMatchObject({
      kind: "forecast",
      level: "session",
      unit: "tokens",
      used: 1_000,
      expected: 51_001,
      limit: 40_000,
    });
  });
});

describe("a dollar budget", () => {
  /** 1,000 tokens are $0.00125. */
  const spend = 1_250;

  it("counts real prices over all resumes and is never exceeded", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const budget = { usd: 0.01 };
    const session = await maestro.start(team(1_000, 6_000, budget), { brief: "b" });
    const { status, reason, error } = await session.result();
    expect([status, reason]).toEqual(["parked", "budget"]);
    expect(error?.details).toMatchObject({
      level: "session",
      unit: "usd",
      limit: 10_000,
      used: spend + 7_500,
    });
    await maestro.setBudget(session.id, { usd: 0.02 });
    expect(await (await maestro.resume(session.id)).result()).toMatchObject({ status: "completed" });
    const { usage, budgets } = await maestro.show(session.id);
    expect(usage).toMatchObject({ calls: 3, costUsd: 0.008752 });
    expect(budgets[0]).toMatchObject({ used: { usd: 0.008752 }, reserved: { usd: 0 }, overrun: false });
  });

  it("of the day is shared by all sessions of the state directory", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ budget: { dayUsd: 0.01 } });
    const run = async () => (await maestro.start(team(6_000, 1), { brief: "b" })).result();
    const results = [await run(), await run()];
    expect(results.map(({ status }) => status)).toEqual(["completed", "parked"]);
    expect(results[1]?.error?.details).toMatchObject({ level: "day", unit: "usd", limit: 10_000 });
  });
});
