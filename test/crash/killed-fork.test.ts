import { afterEach, expect, test } from "vitest";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import { endingOf } from "./support/expectations.ts";
import { asOnlooker } from "./support/onlooker.ts";
import { Place } from "./support/place.ts";
import type { Wish } from "./support/wish.ts";

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

const needs = { outputs: { api_analyst: { read: "something else" } } };
const fork: Wish = { do: "fork", session: "shop", key: "fork", at: "build", edits: { needs } };

/** A completed session, and a fork of it whose process is killed at this point. */
async function killedAt(point: FaultPoint): Promise<Place> {
  const place = new Place();
  places.push(place);
  await place.afterlife(place.drive("shop"), "shop");
  place.forget();
  const kill = { fault: { point, hit: 1, act: "kill" } } as const;
  const { ended } = await place.afterlife(place.wish("shop", fork, kill), "fork");
  expect(ended.signal).toBe("SIGKILL");
  return place;
}

const prune = (place: Place) => asOnlooker(place, (maestro) => maestro.prune({ keep: 0 }));
const keysLeft = (place: Place) =>
  asOnlooker(place, async (maestro) => new Set((await maestro.sessions()).map(({ key }) => key)));

const resumed = (place: Place) =>
  place.afterlife(place.wish("shop", { do: "resume", session: "fork" }), "fork");

const workers = (begun: readonly string[]) => new Set(begun.map((attempt) => attempt.split(",")[0]));

test("a fork that is killed before its commit does not exist, and its parent is unchanged", async () => {
  const place = await killedAt("session.forked:before-commit");
  expect(await keysLeft(place)).toEqual(new Set(["shop"]));
  await prune(place);
  expect(await keysLeft(place)).toEqual(new Set());
});

test("a fork that is killed after its commit is complete and runs with its edit after its parent is pruned", async () => {
  const place = await killedAt("session.forked:after-commit");
  await prune(place);
  expect(await keysLeft(place)).toEqual(new Set(["fork"]));
  const life = await resumed(place);
  expect(endingOf(life)).toMatchObject({
    status: "completed",
    results: { needs: { api_analyst: { outputs: needs.outputs.api_analyst } } },
  });
  expect(workers(life.begun)).toEqual(new Set(["backend", "database", "tester"]));
});

test("a fork that loses its database before it ran continues from its own first checkpoint", async () => {
  const place = await killedAt("session.claimed:before-commit");
  place.loseDatabase();
  const life = await resumed(place);
  expect(endingOf(life)).toMatchObject({
    results: { needs: { api_analyst: { outputs: needs.outputs.api_analyst } } },
  });
  expect(workers(life.begun)).toEqual(new Set(["backend", "database", "tester"]));
});
