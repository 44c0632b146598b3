import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";

test("a damaged ticket is reported and stops neither other tickets nor sessions", async () => {
  const place = new TeamPlace();
  const stuck = defineTeam("team", {
    phases: [
      phase("work", {
        personas: [
          persona("worker", {
            run: () => {
              throw new Error("the answer is wrong");
            },
          }),
        ],
      }),
    ],
  });
  const maestro = await place.open();
  const first = await (await maestro.start(stuck, { brief: "one" })).result();
  const database = new DatabaseSync(join(place.stateDir, "maestro.db"), { timeout: 5_000 });
  database.exec("UPDATE tickets SET ticket = '{', due_at = 1");
  database.exec("INSERT INTO breakers (name, record, updated_at) VALUES ('a', '{', 1)");
  database.close();
  const second = await (await maestro.start(stuck, { brief: "two" })).result();
  expect(second).toMatchObject({ status: "parked", reason: "help", ticket: { status: "delivered" } });
  expect(await maestro.tickets()).toEqual([second.ticket]);
  expect(await maestro.damagedTickets()).toHaveLength(1);
  expect(await maestro.breakers()).toEqual([]);
  expect(await maestro.show(first.id)).toMatchObject({ status: "parked", ticket: null });
});
