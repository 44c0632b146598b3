import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

async function twoThatWait() {
  const place = new TeamPlace();
  const maestro = await place.open();
  const told: string[] = [];
  const one = (name: string) =>
    persona(name, {
      run: place.work(name, ({ notes }) => {
        told.push(...notes.map((note) => `${name}: ${note}`));
      }),
    });
  const team = defineTeam("two", {
    phases: [
      phase("a", { personas: [one("pa")] }),
      phase("b", { dependsOn: ["a"], review: true, personas: [one("pb")] }),
      phase("c", { dependsOn: ["a"], review: true, personas: [one("pc")] }),
    ],
  });
  const session = await maestro.start(team, { brief: "x", until: "a" });
  await session.result();
  await maestro.executePhase(session.id, "b");
  await maestro.executePhase(session.id, "c");
  const reviews = async () =>
    (await maestro.show(session.id)).phases.map(({ name, review }) => `${name} ${review}`);
  return { place, maestro, id: session.id, told, reviews };
}

describe("a reviewer's word", () => {
  it("is refused when more than one phase waits and it names none, or one that does not wait", async () => {
    const { maestro, id, reviews } = await twoThatWait();
    const both = /More than one phase waits for review: b, c/;
    await expect(maestro.approve(id)).rejects.toThrow(both);
    await expect(maestro.reject(id, { note: "no" })).rejects.toThrow(both);
    await expect(maestro.approve(id, { phase: "a" })).rejects.toThrow("Phase a does not wait for review");
    await expect(maestro.approve(id, { phase: "typo" })).rejects.toThrow("Phase typo does not wait");
    expect(await reviews()).toEqual(["a none", "b awaiting", "c awaiting"]);
  });

  it("answers for the phase it names, and the others go on waiting", async () => {
    const { place, maestro, id, told, reviews } = await twoThatWait();
    await maestro.reject(id, { phase: "c", note: "only c is bad" });
    expect(await reviews()).toEqual(["a none", "b awaiting", "c none"]);
    expect(await maestro.find(id)).toMatchObject({ status: "parked", reason: "review" });
    await maestro.approve(id);
    expect(await reviews()).toEqual(["a none", "b approved", "c none"]);
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "parked", reason: "review" });
    expect(told).toEqual(["pc: only c is bad"]);
    expect(place.ran).toEqual(["pa", "pb", "pc", "pc"]);
    await maestro.approve(id, { phase: "c" });
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
  });
});
