import { describe, expect, test } from "vitest";
import { noSequence, type Press, readPress } from "../../../dashboard/src/keys/key-sequence.ts";
import { planLineText, planTotalText } from "../../../dashboard/src/sentences/plan-text.ts";
import {
  aroundMarked,
  resumeWarning,
  sameFailureText,
} from "../../../dashboard/src/sentences/stopped-text.ts";
import { tabsOf, tabToShow } from "../../../dashboard/src/session/tabs.ts";
import { matchCommands } from "../../../dashboard/src/shell/commands.ts";
import {
  checkStart,
  emptyStart,
  startCommand,
  startRequest,
} from "../../../dashboard/src/start/start-form.ts";
import { stopLanes, stoppedPersona } from "../../../dashboard/src/stopped/stopped-persona.ts";
import { stackSeries } from "../../../dashboard/src/usage/stack.ts";
import { parkingPayments } from "./samples.ts";

describe("keys", () => {
  const press = (key: string, extra: Partial<Press> = {}): Press => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    typing: false,
    at: 0,
    ...extra,
  });

  test("g and a letter go somewhere, if they come together", () => {
    const first = readPress(noSequence, press("g"), true);
    expect(first.shortcut).toBeUndefined();
    expect(readPress(first.state, press("u", { at: 800 }), true).shortcut).toBe("g u");
    expect(readPress(first.state, press("u", { at: 5000 }), true).shortcut).toBe("u");
  });

  test("rest in fields and when they are switched off; Ctrl K always works", () => {
    expect(readPress(noSequence, press("n", { typing: true }), true).shortcut).toBeUndefined();
    expect(readPress(noSequence, press("n"), false).shortcut).toBeUndefined();
    expect(readPress(noSequence, press("k", { ctrlKey: true, typing: true }), false).shortcut).toBe("mod+k");
    expect(readPress(noSequence, press("k", { metaKey: true }), true).shortcut).toBe("mod+k");
  });

  test("leave the browser's own combinations alone", () => {
    expect(readPress(noSequence, press("r", { ctrlKey: true }), true).shortcut).toBeUndefined();
    expect(readPress(noSequence, press("1", { altKey: true }), true).shortcut).toBeUndefined();
    expect(readPress(noSequence, press("Tab"), true).shortcut).toBeUndefined();
  });
});

describe("the start panel", () => {
  test("says at the field what is wrong", () => {
    const wrong = checkStart({ ...emptyStart, model: "claude", usd: "-1", tokens: "1.5" });
    expect([...wrong.keys()]).toEqual(["brief", "model", "budget.usd", "budget.tokens"]);
    expect(
      checkStart({ ...emptyStart, brief: "x", model: "simulated", usd: "12.50", tokens: "400,000" }).size,
    ).toBe(0);
  });

  test("sends only what was filled in", () => {
    expect(startRequest({ ...emptyStart, team: "product", brief: " x " })).toEqual({
      team: "product",
      brief: "x",
    });
    expect(
      startRequest({
        ...emptyStart,
        brief: "x",
        team: "t",
        model: "a/b",
        key: "k",
        usd: "5",
        tokens: "1000",
        pauseAfter: ["design"],
      }),
    ).toEqual({
      team: "t",
      brief: "x",
      model: "a/b",
      key: "k",
      budget: { usd: 5, tokens: 1000 },
      pauseAfter: ["design"],
    });
  });

  test("shows a command that a shell takes as it is", () => {
    const form = {
      ...emptyStart,
      brief: "it's $HOME",
      key: "a b",
      usd: "5",
      pauseAfter: ["design", "testing"],
    };
    const rest = "--key 'a b' --budget-usd 5 --pause-after design,testing";
    expect(startCommand(form, { builtIn: true, file: null })).toBe(`maestro run 'it'\\''s $HOME' ${rest}`);
    expect(startCommand(form, { builtIn: false, file: "/w/my team.ts" })).toBe(
      `maestro run 'it'\\''s $HOME' --team '/w/my team.ts' ${rest}`,
    );
    expect(startCommand(form, { builtIn: false, file: null })).toBeUndefined();
  });
});

test("a plan names what is reused, what runs and what is left", () => {
  const line = { sealedAt: null, cost: { lowUsd: 0, highUsd: 0 } };
  expect(planLineText({ ...line, action: "reuse", phases: [], personas: ["a", "b"] })).toBe(
    "a, b with unchanged inputs",
  );
  expect(planLineText({ ...line, action: "run", phases: [], personas: ["a", "b", "c", "d"] })).toBe(
    "4 personas",
  );
  const plan = {
    lines: [],
    total: null,
    expectedUsd: 4.1,
    leftUsd: 8.09,
    nothingRuns: false,
    personas: [],
    effects: [],
    tokens: { least: 0, most: 0 },
    unknown: [],
  };
  expect(planTotalText(plan)).toBe("about $4.10 of $8.09 left");
  expect(planTotalText({ ...plan, expectedUsd: null, leftUsd: null })).toBe("");
});

describe("a stopped session", () => {
  test("warns before the same attempt is paid for again", () => {
    expect(sameFailureText({ count: 6, of: 6 })).toBe("Same failure in 6 of 6 attempts");
    expect(sameFailureText({ count: 1, of: 6 })).toBeUndefined();
    expect(resumeWarning({ count: 6, of: 6 })).toBe(
      "Same inputs, same place. After 6 equal failures, expect another.",
    );
  });

  test("shows the lines around the error, whatever is cut", () => {
    const lines = Array.from({ length: 30 }, (_, index) => ({ index, marked: index === 20 }));
    const shown = aroundMarked(lines, 8).map(({ index }) => index);
    expect(shown).toHaveLength(8);
    expect(shown).toContain(20);
    expect(aroundMarked(lines.slice(0, 5), 8)).toHaveLength(5);
  });

  test("has three lanes: completed phases, the persona that stopped, the others of its phase", () => {
    const view = parkingPayments();
    expect(stoppedPersona(view, undefined)?.persona.name).toBe("backend_developer");
    const place = { phase: "implementation", persona: "ui_ux_designer" };
    expect(stoppedPersona(view, place)?.persona.name).toBe("ui_ux_designer");
    expect(stopLanes(view, undefined).map(({ name, status }) => `${name}: ${status}`)).toEqual([
      "requirements, design: completed",
      "backend_developer: failed",
      "3 other personas: completed",
    ]);
  });

  test("opens on the tab Stopped, whose address shows the run once the session resumes", () => {
    const view = parkingPayments();
    expect(tabsOf(view)[0]?.tab).toBe("stopped");
    expect(tabToShow(view, undefined)).toBe("stopped");
    expect(tabToShow({ status: "running" }, "stopped")).toBe("run");
    expect(tabsOf({ ...view, status: "running" })[0]?.tab).toBe("run");
  });
});

test("the chart's layers add up to the table's numbers, small names put together", () => {
  const series = Array.from({ length: 12 }, (_, index) => [
    { at: "2026-11-14T00:00:00.000Z", name: `n${index}`, tokens: 10, costUsd: 12 - index },
    { at: "2026-11-15T00:00:00.000Z", name: `n${index}`, tokens: 10, costUsd: 1 },
  ]).flat();
  const { times, layers } = stackSeries({ series }, "usd");
  expect(times).toHaveLength(2);
  expect(layers.map(({ name }) => name)).toEqual(["n0", "n1", "n2", "n3", "n4", "n5", "n6", "others"]);
  expect(layers.at(-1)?.tops).toEqual([78, 12]);
  expect(stackSeries({ series: [] }, "tokens")).toEqual({ times: [], layers: [] });
});

test("commands are found by any of their words, those that begin with it first", () => {
  const names = ["Go to usage", "Use the dark theme", "Pause this session…"].map((name) => ({ name }));
  expect(matchCommands(names, "us").map(({ name }) => name)).toEqual([
    "Use the dark theme",
    "Go to usage",
    "Pause this session…",
  ]);
  expect(matchCommands(names, "theme dark")).toHaveLength(1);
  expect(matchCommands(names, "")).toHaveLength(3);
});
