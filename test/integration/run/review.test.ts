import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTeam, HelpNeeded, persona, phase } from "../../../src/index.ts";
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

describe("an approval or rejection", () => {
  it("is refused when several phases wait and it names none, or one that is not waiting", async () => {
    const { maestro, id, reviews } = await twoThatWait();
    const both = /More than one phase is waiting for review: b, c/;
    await expect(maestro.approve(id)).rejects.toThrow(both);
    await expect(maestro.reject(id, { note: "no" })).rejects.toThrow(both);
    await expect(maestro.approve(id, { phase: "a" })).rejects.toThrow("Phase a is not waiting for review");
    await expect(maestro.approve(id, { phase: "typo" })).rejects.toThrow("Phase typo is not waiting");
    expect(await reviews()).toEqual(["a none", "b awaiting", "c awaiting"]);
  });

  it("applies to the phase it names, and the others stay waiting", async () => {
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

describe("a phase that waits for review beside another branch", () => {
  /** b waits for review; c and d are beside it, and e rests on both b and d. */
  async function oneWaits(act: Record<string, () => unknown> = {}) {
    const place = new TeamPlace();
    const maestro = await place.open();
    const one = (name: string) => persona(`p${name}`, { run: place.work(`p${name}`, act[name]) });
    const team = defineTeam("beside", {
      phases: [
        phase("a", { personas: [one("a")] }),
        phase("b", { dependsOn: ["a"], review: true, personas: [one("b")] }),
        phase("c", { dependsOn: ["a"], personas: [one("c")] }),
        phase("d", { dependsOn: ["a"], personas: [one("d")] }),
        phase("e", { dependsOn: ["b", "d"], personas: [one("e")] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    const first = await session.result();
    return { place, maestro, id: session.id, first };
  }
  const waits = { status: "parked", reason: "review" };

  it("still waits, and is approved, after another phase has run", async () => {
    const { place, maestro, id } = await oneWaits();
    expect(await maestro.executePhase(id, "c")).toMatchObject(waits);
    expect(await maestro.find(id)).toMatchObject(waits);
    await maestro.approve(id);
    expect(await maestro.find(id)).toMatchObject({ status: "paused" });
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pa", "pb", "pc", "pd", "pe"]);
  });

  it("is marked in the list of checkpoints until it is reviewed: only its newest revision", async () => {
    const { maestro, id } = await oneWaits();
    const marked = async () =>
      (await maestro.checkpoints(id)).flatMap(({ phase, revision, awaitingReview }) =>
        awaitingReview ? [`${phase} ${revision}`] : [],
      );
    expect(await marked()).toEqual(["b 1"]);
    await maestro.reject(id, { note: "again" });
    expect(await marked()).toEqual([]);
    await maestro.executePhase(id, "b");
    expect(await marked()).toEqual(["b 2"]);
    await maestro.approve(id);
    expect(await marked()).toEqual([]);
  });

  it("is approved or rejected while another phase is running", async () => {
    for (const say of ["approve", "reject"] as const) {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: opened, resolve: open } = Promise.withResolvers<void>();
      const c = async () => {
        begin();
        await opened;
      };
      const { place, maestro, id } = await oneWaits({ c });
      const running = maestro.executePhase(id, "c");
      await begun;
      await maestro[say](id, { note: "seen" });
      open();
      expect(await running).toMatchObject({ status: "paused" });
      await maestro.executeBatch(id);
      if (say === "reject") await maestro.approve(id);
      expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
      expect(place.ran.filter((name) => name === "pb")).toHaveLength(say === "reject" ? 2 : 1);
    }
  });

  it("is approved after its database was lost", async () => {
    const { place, maestro, id } = await oneWaits();
    await maestro.close();
    for (const file of readdirSync(place.stateDir))
      if (file.startsWith("maestro.db")) rmSync(join(place.stateDir, file));
    const later = await place.open();
    await later.approve(id);
    expect((await later.show(id)).phases[1]).toMatchObject({ name: "b", review: "approved" });
  });

  it("is named, with the next action, when a dependent phase is requested", async () => {
    const { maestro, id } = await oneWaits();
    await expect(maestro.executePhase(id, "e")).rejects.toMatchObject({
      message: expect.stringMatching(/b waits for review/),
      advice: expect.stringMatching(/maestro approve .* --phase b/),
    });
    await maestro.executePhase(id, "d");
    await expect(maestro.executePhase(id, "e")).rejects.toMatchObject({
      advice: expect.not.stringContaining("--given"),
    });
  });
});

describe("a phase that needs help beside another branch", () => {
  it("still needs help, with its error and its ticket, after another phase has run", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    let mended = false;
    const team = defineTeam("needy", {
      phases: [
        phase("a", { personas: [persona("pa", { run: place.work("pa") })] }),
        phase("b", {
          dependsOn: ["a"],
          personas: [
            persona("pb", {
              run: place.work("pb", () => {
                if (!mended) throw new HelpNeeded("Which city?");
              }),
            }),
          ],
        }),
        phase("c", { dependsOn: ["a"], personas: [persona("pc", { run: place.work("pc") })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    const parked = await session.result();
    expect(parked).toMatchObject({ status: "parked", reason: "help" });
    const { error, ticket } = await maestro.show(session.id);
    expect(await maestro.executePhase(session.id, "c")).toMatchObject({ status: "parked", reason: "help" });
    const after = await maestro.show(session.id);
    expect(after.error).toEqual(error);
    expect(after.ticket?.fingerprint).toBe(ticket?.fingerprint);
    expect(await maestro.tickets()).toHaveLength(1);
    mended = true;
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(place.ran.filter((name) => name === "pc")).toHaveLength(1);
  });

  it("runs again when all remaining phases are requested while another phase is running", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    let mended = false;
    const help = () => {
      if (!mended) throw new HelpNeeded("Which city?");
    };
    const slow = async () => {
      begin();
      await opened;
    };
    const team = defineTeam("needy", {
      phases: [
        phase("a", { personas: [persona("pa", { run: place.work("pa", help) })] }),
        phase("b", { dependsOn: [], personas: [persona("pb", { run: place.work("pb", slow) })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    await session.result();
    const alone = maestro.executePhase(session.id, "b");
    await begun;
    mended = true;
    const batch = maestro.executeBatch(session.id);
    open();
    expect(await alone).toMatchObject({ status: "parked", reason: "help" });
    expect(Object.keys(await alone)).not.toContain("elsewhere");
    expect(await batch).toMatchObject({ status: "completed" });
  });
});
