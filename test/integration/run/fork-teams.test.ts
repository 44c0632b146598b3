import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

interface Change {
  /** pa has to deliver its file. */
  readonly delivers?: boolean;
  /** Another persona is in a. */
  readonly joined?: boolean;
  readonly alone?: boolean;
  /** A person looks at a. */
  readonly review?: boolean;
  /** b does not rest on a. */
  readonly apart?: boolean;
  /** Another phase comes before b. */
  readonly inserted?: boolean;
  /** pa may try for longer. */
  readonly patient?: boolean;
}

/** a, b, c in a line, each with a file; a has pa and pa2. */
function line(place: TeamPlace, change: Change = {}): Team {
  const writes = (name: string) =>
    place.work(name, ({ workspace }) => workspace.write(`${name}.txt`, `${name}\n`));
  const joined = change.joined ? [persona("pa3", { run: writes("pa3") })] : [];
  const second = change.alone ? [] : [persona("pa2", { run: writes("pa2") })];
  return defineTeam("line", {
    phases: [
      phase("a", {
        review: change.review === true,
        personas: [
          persona("pa", {
            run: writes("pa"),
            ...(change.patient && { timeoutMs: 5_000, maxAttempts: 5 }),
            ...(change.delivers && { contract: { deliverables: ["pa.txt"] } }),
          }),
          ...second,
          ...joined,
        ],
      }),
      ...(change.inserted
        ? [phase("a2", { dependsOn: ["a"], personas: [persona("new", { run: writes("new") })] })]
        : []),
      phase("b", {
        dependsOn: change.apart ? [] : change.inserted ? ["a2"] : ["a"],
        personas: [persona("pb", { run: writes("pb") })],
      }),
      phase("c", { dependsOn: ["a", "b"], personas: [persona("pc", { run: writes("pc") })] }),
    ],
  });
}

async function finished(place: TeamPlace, options: { given?: Record<string, object> } = {}) {
  const maestro = await place.open();
  const session = await maestro.start(line(place), { brief: "x", ...options });
  expect(await session.result()).toMatchObject({ status: "completed" });
  place.ran.length = 0;
  return { maestro, id: session.id };
}

describe("a fork with another team", () => {
  it.each<[string, Change, string, readonly string[]]>([
    ["a persona of a phase before is another one", { delivers: true }, "a", ["pa"]],
    ["a persona joined an earlier phase", { joined: true }, "a", ["pa3"]],
    ["a persona left an earlier phase", { alone: true }, "a", ["pb", "pc"]],
    ["a phase before is judged in another way", { review: true }, "a", []],
    ["a phase before rests on others", { apart: true }, "b", ["pb"]],
  ])(
    "is refused where %s, because the change would have no effect, and works where the advice points",
    async (_, change, at, runs) => {
      const place = new TeamPlace();
      const { maestro, id } = await finished(place);
      const team = line(place, change);
      for (const ask of [maestro.planFork.bind(maestro), maestro.fork.bind(maestro)])
        await expect(ask(id, { at: "c", team })).rejects.toMatchObject({
          code: "INPUT_INVALID",
          message: expect.stringContaining(`Phase ${at} has changed since it ran`),
          advice: expect.stringContaining(`maestro fork ${id} --at ${at} --team`),
        });
      expect(await maestro.sessions()).toHaveLength(1);
      const fork = await maestro.fork(id, { at, team });
      const result = await (await maestro.resume(fork.id, { team })).result();
      expect(["completed", "parked"]).toContain(result.status);
      for (const name of runs) expect(place.ran).toContain(name);
      expect(place.ran).not.toContain("pa2");
    },
  );

  it("is refused where an earlier phase is new, with the phase that works", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const team = line(place, { inserted: true });
    await expect(maestro.fork(id, { at: "c", team })).rejects.toMatchObject({
      message: expect.stringContaining("no accepted result of phase a2"),
      advice: expect.stringContaining("Fork at a2"),
    });
    const fork = await maestro.fork(id, { at: "a2", team });
    await (await maestro.resume(fork.id, { team })).result();
    expect(place.ran).toEqual(["new", "pb", "pc"]);
    expect(await place.filesOf(maestro, fork.id)).toMatchObject({ "new.txt": "new\n", "pc.txt": "pc\n" });
  });

  it("takes over phases from outside, also with other personas", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place, { given: { a: { files: { "pa.txt": "given\n" } } } });
    const plan = await maestro.planFork(id, { at: "c", team: line(place, { delivers: true }) });
    expect(plan.personas.map(({ action }) => action)).toEqual(["kept", "kept", "kept", "reused"]);
  });

  it("may give earlier phases more attempts", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const plan = await maestro.planFork(id, { at: "c", team: line(place, { patient: true }) });
    expect(plan.personas.map(({ action }) => action)).toEqual(["kept", "kept", "kept", "reused"]);
  });
});

describe("the team of a refused fork", () => {
  it("is not used to resume other sessions of its name", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const other = line(place, { delivers: true, joined: true });
    const paused = await maestro.start(line(place), { brief: "y", key: "y", until: "a" });
    await paused.result();
    place.ran.length = 0;
    await expect(maestro.fork(id, { at: "c", team: other })).rejects.toThrow(/the fork would take it over/);
    const refused = await maestro.resume(paused.id, { team: other });
    await expect(refused.result()).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    await expect(
      maestro.start(other, { brief: "y", key: "y" }).then((session) => session.result()),
    ).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    await expect(maestro.start(other, { brief: "another", key: "y" })).rejects.toThrow(/key "y"/);
    expect((await maestro.team(id)).fingerprint).toBe(line(place).fingerprint);
    expect(await maestro.executeBatch(paused.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pb", "pc"]);
  });

  it("is used once it is accepted", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await (await maestro.start(line(place), { brief: "x", until: "a" })).result();
    const other = line(place, { delivers: true });
    await (await maestro.resume(id, { team: other, acceptChanges: true })).result();
    expect((await maestro.team(id)).fingerprint).toBe(other.fingerprint);
  });
});
