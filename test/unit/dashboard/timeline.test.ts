import { describe, expect, test } from "vitest";
import { branches, collapseChains, layoutDag } from "../../../dashboard/src/run/dag-layout.ts";
import { dagreOrder } from "../../../dashboard/src/run/dag-order.ts";
import {
  defaultSelection,
  nextFailure,
  phaseProgress,
  phaseWord,
} from "../../../dashboard/src/run/persona-state.ts";
import {
  axisTicks,
  knownEnd,
  panned,
  timeScale,
  wholeWindow,
  zoomed,
} from "../../../dashboard/src/run/time-scale.ts";
import { personaBars, phaseBars, spread } from "../../../dashboard/src/run/timeline-bars.ts";
import { kindCounts, squaresOf, timelineRows } from "../../../dashboard/src/run/timeline-rows.ts";
import { attempt, hugePhase, minutesAgo, parkingOne, persona, phase, startedAt } from "./samples.ts";

const now = startedAt;

const none = { toggled: new Map<string, boolean>(), filter: undefined };

describe("bars", () => {
  test("every failed attempt stays, with the wait after it", () => {
    const twice = persona("p", "running", {
      held: { kind: "retry", notBefore: minutesAgo(-1), because: "" },
      attempts: [attempt("failed", { from: 10, to: 8 }), attempt("failed", { attempt: 2, from: 7, to: 3 })],
    });
    expect(personaBars(twice, now).map(({ kind }) => kind)).toEqual([
      "failed",
      "backoff",
      "failed",
      "backoff",
    ]);
    expect(personaBars(twice, now).at(-1)).toMatchObject({ to: now });
  });

  test("a wait for a breaker lies inside its attempt and grows until now", () => {
    const waiting = persona("p", "running", {
      attempts: [
        attempt("running", { from: 10, waits: [{ dependency: "openai", from: minutesAgo(4), until: null }] }),
      ],
    });
    expect(personaBars(waiting, now)).toMatchObject([
      { kind: "running", to: now },
      { kind: "breaker", to: now },
    ]);
  });

  test("reused work is shown as reused, a folded phase as one bar, an open one as a bracket", () => {
    const reused = persona("p", "reused", { attempts: [attempt("completed", { from: 10, to: 9 })] });
    expect(personaBars(reused, now)).toMatchObject([{ kind: "reused" }]);
    const done = phase("d", "completed", {
      startedAt: minutesAgo(10),
      endedAt: minutesAgo(5),
      personas: [reused],
    });
    expect(phaseBars(done, true, now)).toMatchObject([{ kind: "completed" }]);
    expect(phaseBars(done, false, now)).toMatchObject([{ kind: "span" }]);
    expect(phaseBars(phase("x", "pending"), true, now)).toEqual([]);
  });

  test("no more ticks than can be seen", () => {
    expect(spread([5, 1, 1.5, 3, 3.1, 9], 2)).toEqual([1, 3, 5, 9]);
  });
});

describe("rows", () => {
  test("finished and pending phases are folded, running and failed ones are open", () => {
    const rows = timelineRows(parkingOne().phases, none);
    expect(rows.filter(({ kind }) => kind === "persona")).toHaveLength(5);
    const opened = timelineRows(parkingOne().phases, {
      ...none,
      toggled: new Map([
        ["design", true],
        ["implementation", false],
      ]),
    });
    expect(opened.filter(({ kind }) => kind === "persona")).toHaveLength(2);
  });

  test("1,000 personas become squares, failures first, with lanes for those only", () => {
    const huge = hugePhase();
    const rows = timelineRows([huge], none);
    expect(rows.map(({ kind }) => kind)).toEqual(["phase", "squares", "persona", "persona", "persona"]);
    const squares = squaresOf(huge.personas);
    expect(squares).toHaveLength(1000);
    expect(squares.slice(0, 4).map(({ kind }) => kind)).toEqual(["failed", "failed", "failed", "held"]);
    expect(kindCounts(huge.personas).reduce((sum, { count }) => sum + count, 0)).toBe(1000);
    expect(timelineRows([huge], { ...none, filter: "running" })).toHaveLength(2 + 41);
    expect(phaseProgress(huge, now)).toMatch(/^8\d\d of 1,000 done, 6 retrying$/);
  });
});

describe("what stands for a phase", () => {
  test("a phase whose unfinished personas all wait does not look as if it ran", () => {
    const held = { kind: "breaker", dependency: "openai", probeAt: null } as const;
    const waiting = phase("p", "running", {
      personas: [persona("a", "completed"), persona("b", "running", { held })],
    });
    expect(phaseWord(waiting, now)).toMatchObject({ icon: "waits", tone: "parked" });
    const mixed = phase("p", "running", {
      personas: [persona("a", "running"), persona("b", "running", { held })],
    });
    expect(phaseWord(mixed, now)).toMatchObject({ icon: "running" });
    expect(phaseProgress(phase("p", "running", { personas: [persona("b", "running", { held })] }), now)).toBe(
      "waits for openai",
    );
  });

  test("the persona at work is selected first; e goes around the failures", () => {
    const { phases } = parkingOne();
    expect(defaultSelection(phases)).toEqual({ phase: "implementation", persona: "backend_developer" });
    const first = nextFailure(phases, undefined);
    expect(first?.persona).toBe("database_specialist");
    expect(nextFailure(phases, first)?.persona).toBe("frontend_developer");
    expect(nextFailure(phases, nextFailure(phases, first))?.persona).toBe("database_specialist");
  });
});

describe("the scale", () => {
  const whole = { from: now - 30 * 60_000, to: now };

  test("has round times that do not touch each other or now", () => {
    const scale = timeScale(whole, 460);
    const ticks = axisTicks(scale, whole.to);
    expect(ticks.length).toBeGreaterThanOrEqual(4);
    const places = ticks.map((at) => scale.x(at));
    expect(ticks.filter((at) => at % (5 * 60_000) !== 0)).toEqual([]);
    expect(places.filter((x) => scale.width - x < 58)).toEqual([]);
    expect(places.filter((x, index) => index > 0 && x - (places[index - 1] ?? 0) < 64)).toEqual([]);
  });

  test.each([1000, 60_000, 3_600_000, 86_400_000, 30 * 86_400_000])(
    "over %d ms draws a few labels, never hundreds",
    (span) => {
      expect(axisTicks(timeScale({ from: now - span, to: now }, 700), now).length).toBeLessThanOrEqual(12);
    },
  );

  test("ends where the session did: what is stretched behind it has no label of its own", () => {
    const short = {
      status: "completed",
      createdAt: minutesAgo(5),
      since: new Date(Date.parse(minutesAgo(5)) + 4_000).toISOString(),
      phases: [phase("only", "completed", { startedAt: minutesAgo(5) })],
    } as const;
    const end = knownEnd(short, now);
    expect(end).toBe(Date.parse(short.since));
    const window = wholeWindow(short, now);
    expect(window.to - Date.parse(short.createdAt)).toBe(10_000);
    const scale = timeScale(window, 700);
    for (const at of axisTicks(scale, end)) expect(Math.abs(scale.x(at) - scale.x(end))).toBeGreaterThan(50);
    expect(knownEnd({ ...short, status: "running" }, now)).toBe(now);
  });

  test("zooms about the pointer, stays inside the whole, and zooming out ends at the whole", () => {
    const window = zoomed(whole, whole, 0.5, 0.25);
    expect(window).toEqual({ from: whole.from + 0.125 * 1_800_000, to: whole.from + 0.625 * 1_800_000 });
    expect(window && panned(window, whole, 5)).toEqual({ from: now - 900_000, to: now });
    expect(window && zoomed(window, whole, 3, 0.5)).toBeUndefined();
  });
});

describe("the graph of phases", () => {
  const named = (name: string, ...dependsOn: string[]) => phase(name, "pending", { dependsOn });

  test("stands in columns by depth, whatever the order of the team", () => {
    const phases = [named("d", "b", "c"), named("a"), named("b", "a"), named("c", "a")];
    const { nodes, edges } = layoutDag(collapseChains(phases), undefined);
    const column = (id: string) => nodes.find((node) => node.id === id)?.x;
    expect(column("a")).toBe(0);
    expect(column("b")).toBe(column("c"));
    expect(column("d")).toBe((column("b") ?? 0) * 2);
    expect(edges).toHaveLength(4);
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
  });

  test("asks dagre only where it branches, and dagre keeps lines from crossing", () => {
    expect(branches(collapseChains([named("a"), named("b", "a")]))).toBe(false);
    const nodes = collapseChains([named("a"), named("b"), named("x", "b"), named("y", "a")]);
    expect(branches(nodes)).toBe(true);
    const order = dagreOrder(nodes);
    const above = (one: string, other: string) => (order.get(one) ?? 0) < (order.get(other) ?? 0);
    expect(above("a", "b")).toBe(above("y", "x"));
  });

  test("over 40 phases draws chains of one status as one node and loses no phase", () => {
    const chain = Array.from({ length: 60 }, (_, index) =>
      phase(`s${index}`, index < 20 ? "completed" : "pending", {
        dependsOn: index === 0 ? [] : [`s${index - 1}`],
      }),
    );
    const nodes = collapseChains(chain);
    expect(nodes.map(({ phases }) => phases.length)).toEqual([20, 40]);
    expect(nodes[1]?.dependsOn).toEqual(["s0"]);
    expect(collapseChains(chain.slice(0, 40))).toHaveLength(40);
  });

  test("does not hang on a circle or on a phase that is not there", () => {
    const { nodes } = layoutDag(
      collapseChains([named("a", "b"), named("b", "a"), named("c", "nowhere")]),
      undefined,
    );
    expect(nodes).toHaveLength(3);
  });
});
