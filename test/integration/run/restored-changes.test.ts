import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

it("a change accepted after the database was lost runs the changed personas, also without files", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const team = (consumes?: string[]) =>
    defineTeam("lost", {
      phases: [
        phase("a", { personas: [persona("pa", { run: place.work("pa") })] }),
        phase("b", {
          review: true,
          personas: [
            persona("pb", { run: place.work("pb"), ...(consumes && { consumes }) }),
            persona("same", { run: place.work("same"), consumes: ["pa"] }),
          ],
        }),
        phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
      ],
    });
  const session = await maestro.start(team(), { brief: "x" });
  await session.result();
  await maestro.close();
  for (const file of readdirSync(place.stateDir))
    if (file.startsWith("maestro.db")) rmSync(join(place.stateDir, file));
  place.ran.length = 0;
  const later = await place.open();
  await (await later.resume(session.id, { team: team(["pa"]), acceptChanges: true })).result();
  expect(place.ran).toEqual(["pb"]);
});

it("given phases are restored after the database was lost, with any name of the phase", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const names = ["zeta", "alpha", "omega"];
  const team = defineTeam("lost-gift", {
    phases: names.map((name) => phase(name, { personas: [persona(`p_${name}`, { run: place.work(name) })] })),
  });
  const given = { alpha: { files: { "alpha.md": "GIVEN\n" } } };
  const session = await maestro.start(team, { brief: "x", given });
  await session.result();
  await maestro.close();
  for (const file of readdirSync(place.stateDir))
    if (file.startsWith("maestro.db")) rmSync(join(place.stateDir, file));
  place.ran.length = 0;
  const later = await place.open();
  const resumed = await later.resume(session.id, { team });
  expect(await resumed.result()).toMatchObject({ status: "completed" });
  expect(place.ran).toEqual([]);
  expect((await later.show(session.id)).phases[1]?.source).toMatchObject({ kind: "given" });
});
