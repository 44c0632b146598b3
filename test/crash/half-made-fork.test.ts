import { afterEach, describe, expect, test } from "vitest";
import type { FaultPoint } from "../../src/state/fault-points.ts";
import { endingOf } from "./support/expectations.ts";
import { asOnlooker } from "./support/onlooker.ts";
import { Place } from "./support/place.ts";
import { openStore } from "./support/recorded.ts";
import type { Wish } from "./support/wish.ts";

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

const needs = { outputs: { api_analyst: { read: "something else" } } };
const fork: Wish = { do: "fork", session: "shop", key: "fork", at: "build", edits: { needs } };

/** A finished session, and a fork of it whose maker was killed. */
async function killedAt(point: FaultPoint): Promise<Place> {
  const place = new Place();
  places.push(place);
  await place.afterlife(place.drive("shop"), "shop");
  place.forget();
  const { ended } = await place.afterlife(
    place.wish("shop", fork, { fault: { point, hit: 1, act: "kill" } }),
    "fork",
  );
  expect(ended.signal).toBe("SIGKILL");
  return place;
}

const prune = (place: Place) => asOnlooker(place, (maestro) => maestro.prune({ keep: 0 }));
const keysLeft = (place: Place) =>
  asOnlooker(place, async (maestro) => new Set((await maestro.sessions()).map(({ key }) => key)));

describe("the session that a half-made fork comes from", () => {
  const moments = [
    "session.claimed:before-commit",
    "phase.inherited:after-commit",
    "fork.copied:before-commit",
  ] as const;

  test.each(moments)("is not pruned before the fork stands on its own: killed at %s", async (point) => {
    const place = await killedAt(point);
    await prune(place);
    expect(await keysLeft(place)).toEqual(new Set(["fork", "shop"]));
    const life = await place.afterlife(place.wish("shop", { do: "resume", session: "fork" }), "fork");
    expect(endingOf(life)).toMatchObject({ status: "completed" });
    expect(new Set(life.begun.map((attempt) => attempt.split(",")[0]))).toEqual(
      new Set(["backend", "database", "tester"]),
    );
    await prune(place);
    expect(await keysLeft(place), "both are finished now").toEqual(new Set());
  });

  test("is missed when it is gone by other means: an error says so, and nothing runs", async () => {
    const place = await killedAt("phase.inherited:after-commit");
    const store = openStore(place.stateDir);
    const parent = await store.findSession("shop");
    if (parent !== undefined) await store.deleteSession(parent.id);
    await store.close();
    const life = await place.afterlife(place.wish("shop", { do: "resume", session: "fork" }), "fork");
    expect(life.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no session/),
    });
    expect(life.begun).toEqual([]);
  });

  test("is needed as well when the database is gone: the fork does not begin anew without its edit", async () => {
    const place = await killedAt("fork.copied:after-commit");
    place.loseDatabase();
    const alone = await place.afterlife(place.wish("shop", { do: "resume", session: "fork" }), "fork");
    expect(alone.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/There is no session/) });
    expect(alone.begun).toEqual([]);
    await asOnlooker(place, (maestro) => maestro.show("shop"));
    const life = await place.afterlife(place.wish("shop", { do: "resume", session: "fork" }), "fork");
    expect(endingOf(life)).toMatchObject({
      results: { needs: { api_analyst: { outputs: needs.outputs.api_analyst } } },
    });
    expect(new Set(life.begun.map((attempt) => attempt.split(",")[0]))).toEqual(
      new Set(["backend", "database", "tester"]),
    );
  });

  test("is pruned when the fork does", async () => {
    const place = await killedAt("fork.copied:after-commit");
    await prune(place);
    expect(await keysLeft(place)).toEqual(new Set(["fork"]));
    const life = await place.afterlife(place.wish("shop", { do: "resume", session: "fork" }), "fork");
    expect(endingOf(life)).toMatchObject({ status: "completed" });
  });
});
