import { describe, expect, test } from "vitest";
import {
  ancestorsOf,
  dependentsOf,
  groupsOf,
  orderPhases,
  type PhaseOrder,
} from "../../../src/team/definition/order.ts";
import { providersOf } from "../../../src/team/definition/providers.ts";
import { seededRandom } from "../../unit/domain/seeded-random.ts";

const team = (phases: Record<string, readonly string[]>): PhaseOrder => ({
  phases: Object.entries(phases).map(([name, dependsOn]) => ({ name, dependsOn })),
});
const personas = (consumes: Record<string, readonly string[] | null>) => ({
  name: "phase",
  personas: Object.entries(consumes).map(([name, names]) => ({ name, consumes: names })),
});
const groupNames = (consumes: Record<string, readonly string[] | null>) =>
  groupsOf(personas(consumes)).map((group) => group.map(({ name }) => name));

describe("phases run", () => {
  test.each([
    ["as declared, when nothing speaks against it", { a: [], b: [], c: [] }, ["a", "b", "c"]],
    ["as declared in a line", { a: [], b: ["a"], c: ["b"] }, ["a", "b", "c"]],
    ["after what they depend on", { a: ["c"], b: [], c: [] }, ["c", "a", "b"]],
    [
      "in the order of dependsOn's own dependencies",
      { d: ["b", "c"], c: ["a"], b: ["a"], a: [] },
      ["a", "b", "c", "d"],
    ],
  ])("%s", (_title, phases, order) => {
    expect(orderPhases(team(phases))).toEqual(order);
  });

  test("never in a circle", () => {
    expect(() => orderPhases(team({ a: ["b"], b: ["a"] }))).toThrow(
      expect.objectContaining({
        code: "TEAM_INVALID",
        message: "The phases wait for each other: a -> b -> a.",
      }),
    );
  });

  test("in a true order, whatever the graph", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 60; round += 1) {
      const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
      const shuffled = names.toSorted(() => random() - 0.5);
      const phases = Object.fromEntries(
        shuffled.map((name) => [name, names.slice(0, names.indexOf(name)).filter(() => random() < 0.3)]),
      );
      const order = orderPhases(team(phases));
      expect(order.toSorted()).toEqual(names.toSorted());
      for (const [name, dependsOn] of Object.entries(phases)) {
        for (const other of dependsOn) expect(order.indexOf(other)).toBeLessThan(order.indexOf(name));
        const ancestors = ancestorsOf(team(phases), name);
        for (const ancestor of ancestors) expect(dependentsOf(team(phases), ancestor)).toContain(name);
        expect(ancestors).toEqual(order.filter((other) => ancestors.includes(other)));
      }
    }
  });
});

test("ancestors and dependents are all of them, not only the next", () => {
  const diamond = team({ a: [], b: ["a"], c: ["a"], d: ["b", "c"], e: [] });
  expect(ancestorsOf(diamond, "d")).toEqual(["a", "b", "c"]);
  expect(dependentsOf(diamond, "a")).toEqual(["b", "c", "d"]);
  expect(ancestorsOf(diamond, "a")).toEqual([]);
  expect(dependentsOf(diamond, "e")).toEqual([]);
  expect(ancestorsOf(diamond, "nowhere")).toEqual([]);
});

describe("personas of a phase work", () => {
  test.each([
    ["at once when no persona reads from a neighbor", { a: null, b: [], c: ["earlier"] }, [["a", "b", "c"]]],
    ["after those they read from", { a: ["b"], b: null, c: null }, [["b", "c"], ["a"]]],
    [
      "as soon as they can",
      { a: ["b", "d"], b: ["c"], c: [], d: [], e: ["c"] },
      [["c", "d"], ["b", "e"], ["a"]],
    ],
    ["without waiting for themselves", { a: ["a"] }, [["a"]]],
  ])("%s", (_title, consumes, groups) => {
    expect(groupNames(consumes)).toEqual(groups);
  });

  test("never in a circle", () => {
    expect(() => groupNames({ a: ["b"], b: ["c"], c: ["a"] })).toThrow(
      expect.objectContaining({
        code: "TEAM_INVALID",
        message: 'The personas of phase "phase" wait for each other: a -> b -> c -> a.',
      }),
    );
  });
});

test("a persona reads what it consumes in every phase before its own, and from its neighbors", () => {
  const worker = (name: string, consumes: readonly string[] | null = null) => ({ name, consumes });
  const definition = {
    phases: [
      { name: "a", dependsOn: [], personas: [worker("author"), worker("critic", ["author"])] },
      { name: "b", dependsOn: ["a"], personas: [worker("author", ["author", "critic"]), worker("critic")] },
      { name: "later", dependsOn: ["b"], personas: [worker("author")] },
    ],
  };
  expect(providersOf(definition, "b", "author")).toEqual([
    { phase: "a", persona: "author" },
    { phase: "a", persona: "critic" },
    { phase: "b", persona: "critic" },
  ]);
  expect(providersOf(definition, "a", "critic")).toEqual([{ phase: "a", persona: "author" }]);
  expect(providersOf(definition, "b", "critic")).toBeNull();
});

describe("a team twenty times as large takes about twenty times as long", () => {
  /** The least processor time of a few: what other processes take of a busy machine is not in it. */
  function cpuTime(work: () => void): number {
    const times = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      // Only their sum is exact; the share of each is estimated.
      return user + system;
    });
    return Math.min(...times);
  }
  const line = (count: number): PhaseOrder => ({
    phases: Array.from({ length: count }, (_, index) => ({
      name: `p${index}`,
      dependsOn: index === 0 ? [] : [`p${index - 1}`],
    })),
  });
  const crowd = (count: number) => ({
    name: "crowd",
    personas: Array.from({ length: count }, (_, index) => ({
      name: `a${index}`,
      consumes: index % 10 === 0 ? [] : [`a${index - 1}`],
    })),
  });
  const [small, factor] = [1_000, 20];

  test.each([
    ["its order of phases", (size: number) => [line(size), orderPhases] as const],
    [
      "the ancestors of its last phase",
      (size: number) => [line(size), (team: PhaseOrder) => ancestorsOf(team, `p${size - 1}`)] as const,
    ],
    [
      "the dependents of its first phase",
      (size: number) => [line(size), (team: PhaseOrder) => dependentsOf(team, "p0")] as const,
    ],
    ["its groups of personas", (size: number) => [crowd(size), groupsOf] as const],
  ])("%s", { timeout: 60_000 }, (_title, prepare) => {
    const timeOf = (size: number, times: number) => {
      const [team, work] = prepare(size) as readonly [PhaseOrder, (team: PhaseOrder) => unknown];
      return cpuTime(() => {
        for (let time = 0; time < times; time += 1) work(team);
      });
    };
    // Squared growth would make the large one twenty times as dear as twenty small ones.
    expect(timeOf(small * factor, 1) / timeOf(small, factor)).toBeLessThan(8);
  });

  test("and a line of 100,000 phases overflows nothing", () => {
    expect(orderPhases({ phases: line(100_000).phases.toReversed() })[0]).toBe("p0");
  });
});
