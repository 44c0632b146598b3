import { describe, expect, test } from "vitest";
import type { SessionRow, SessionStatus } from "../../../dashboard/src/api/types.ts";
import { type Arrangement, ArrangementKeeper, arrange } from "../../../dashboard/src/sessions/arrangement.ts";
import {
  type GroupName,
  groupAside,
  groupsOf,
  passesFilter,
} from "../../../dashboard/src/sessions/grouping.ts";
import { groupToRead, listItems, nextRow } from "../../../dashboard/src/sessions/list-items.ts";
import { phaseGlyphs } from "../../../dashboard/src/sessions/phase-glyphs.ts";
import { noFilter } from "../../../dashboard/src/url/sessions-url.ts";
import { processorMs } from "../../support/processor-time.ts";
import { idOf, rowOf, usage, view } from "./samples.ts";

function row(key: string, status: SessionStatus, since = "2026-11-15T10:00:00.000Z"): SessionRow {
  const running = { kind: "running", phases: [], latest: null, held: [], driverDied: false } as const;
  return rowOf(
    view({ key, brief: `about ${key}`, team: "product", status, since, situation: running, usage: usage(1) }),
  );
}

const groups = groupsOf("all");
const order = (arrangement: Arrangement) =>
  Object.fromEntries([...arrangement].map(([group, ids]) => [group, ids.map(nameOf)]));
const names = new Map<string, string>();
const nameOf = (id: string) => names.get(id) ?? id;

function setUp(rows: readonly SessionRow[]) {
  for (const each of rows) names.set(each.id, each.key ?? "");
  const loaded = new Map<GroupName, string[]>([
    ["needs-you", rows.filter(({ status }) => status === "parked").map(({ id }) => id)],
    ["active", rows.filter(({ status }) => status === "running").map(({ id }) => id)],
    ["finished", rows.filter(({ status }) => status === "completed").map(({ id }) => id)],
  ]);
  return { loaded, rows: new Map(rows.map((each) => [each.id, each])) };
}

describe("rows", () => {
  const listed = [row("p", "parked"), row("a", "running"), row("b", "running"), row("z", "completed")];

  test("that arrive take their place at the top of their group when the page is idle", () => {
    const { loaded, rows } = setUp(listed);
    const fresh = row("new", "running");
    names.set(fresh.id, "new");
    const { arrangement, waiting } = arrange({
      groups,
      loaded,
      rows: new Map(rows).set(fresh.id, fresh),
      streamed: [fresh],
      previous: undefined,
      still: false,
    });
    expect(order(arrangement)).toEqual({ "needs-you": ["p"], active: ["new", "a", "b"], finished: ["z"] });
    expect(waiting).toBe(0);
  });

  test("never move under pointer or focus: they wait and are counted", () => {
    const { loaded, rows } = setUp(listed);
    const before = arrange({
      groups,
      loaded,
      rows,
      streamed: [],
      previous: undefined,
      still: false,
    }).arrangement;
    const parked = row("a", "parked", "2026-11-15T11:00:00.000Z");
    const fresh = row("new", "running");
    const given = {
      groups,
      loaded,
      rows: new Map(rows).set(parked.id, parked).set(fresh.id, fresh),
      streamed: [parked, fresh],
    };
    const still = arrange({ ...given, previous: before, still: true });
    expect(order(still.arrangement)).toEqual(order(before));
    expect(still.waiting).toBe(2);
    const settled = arrange({ ...given, previous: still.arrangement, still: false });
    expect(order(settled.arrangement)).toEqual({
      "needs-you": ["a", "p"],
      active: ["new", "b"],
      finished: ["z"],
    });
  });

  test("of further pages come below while a person scrolls, and are not called new", () => {
    const { loaded, rows } = setUp(listed);
    const keeper = new ArrangementKeeper();
    keeper.arrange("all", { groups, loaded, rows, streamed: [], still: false });
    const older = row("older", "completed");
    names.set(older.id, "older");
    const more = new Map(loaded).set("finished", [...(loaded.get("finished") ?? []), older.id]);
    const { arrangement, waiting } = keeper.arrange("all", {
      groups,
      loaded: more,
      rows: new Map(rows).set(older.id, older),
      streamed: [],
      still: true,
    });
    expect(order(arrangement).finished).toEqual(["z", "older"]);
    expect(waiting).toBe(0);
  });

  test("of another filter are not held in the old order", () => {
    const { loaded, rows } = setUp(listed);
    const keeper = new ArrangementKeeper();
    keeper.arrange("all", { groups, loaded: new Map(), rows: new Map(), streamed: [], still: true });
    const { arrangement } = keeper.arrange("other", { groups, loaded, rows, streamed: [], still: true });
    expect(order(arrangement).active).toEqual(["a", "b"]);
  });

  test("of the stream are shown only where the filters let them through", () => {
    const found = row("parking-1", "running");
    expect(passesFilter(found, { ...noFilter, text: "PARKING" }, undefined)).toBe(true);
    expect(passesFilter(found, { ...noFilter, text: "about" }, undefined)).toBe(true);
    expect(passesFilter(found, { ...noFilter, text: "nothing" }, undefined)).toBe(false);
    expect(passesFilter(found, { ...noFilter, team: "security" }, undefined)).toBe(false);
    expect(passesFilter(found, noFilter, "2999-01-01T00:00:00.000Z")).toBe(false);
  });
});

test("the list has a place for every row of the server, read or not, and knows which page to read", () => {
  const finished = groups[2];
  if (finished === undefined) throw new Error("no third group");
  const arrangement: Arrangement = new Map([["finished", ["x", "y"]]]);
  const items = listItems(arrangement, [{ group: finished, total: 10_000, loaded: 2 }]);
  expect(items).toHaveLength(1 + 10_000);
  expect(groupToRead(items, 0, 2)).toBeUndefined();
  expect(groupToRead(items, 9990, 10_000)).toBe(finished);
  expect(nextRow(items, -1, 1)).toBe(1);
  expect(nextRow(items, 1, 1)).toBe(2);
  expect(nextRow(items, 2, 1)).toBe(2);
});

test("arranging 10,000 rows while one of them changes is linear, not quadratic", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => row(`s-${index}`, "completed"));
  const { loaded, rows } = setUp(many);
  const took = processorMs(() => {
    arrange({ groups, loaded, rows, streamed: many.slice(0, 50), previous: loaded, still: true });
  });
  expect(took).toBeLessThan(1500);
});

test("held-up personas are counted above the active ones", () => {
  const active = groups[1];
  if (active === undefined) throw new Error("no second group");
  const waiting = {
    ...row("a", "running"),
    situation: {
      kind: "running",
      phases: [],
      latest: null,
      held: [
        { persona: "x", held: { kind: "reservation", level: "session" } },
        { persona: "y", held: { kind: "reservation", level: "session" } },
      ],
      driverDied: false,
    },
  } as const;
  expect(groupAside(active, [waiting, row("b", "running")])).toBe(
    "2 personas wait and continue by themselves",
  );
  expect(groupAside(active, [row("b", "running")])).toBe("newest first");
});

test("the diamond of a parked session stands where it stopped; a phase in review is not counted as done", () => {
  const phases = [
    { name: "requirements", status: "completed" },
    { name: "design", status: "completed" },
    { name: "implementation", status: "pending" },
  ] as const;
  const review = {
    ...row("r", "parked"),
    phases,
    phaseCount: 3,
    situation: { kind: "review", phase: "design", filesChanged: 1, next: [], calls: [] },
  } as const;
  expect(phaseGlyphs(review)).toEqual({ glyphs: ["completed", "parked", "pending"], done: 1, total: 3 });
  expect(idOf("r")).toHaveLength(26);
});
