import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

/** a, then b and c beside each other, then d behind b, and e behind both. */
function branches(place: TeamPlace, { pbDelivers = false } = {}): Team {
  const writes = (name: string) =>
    place.work(name, async ({ workspace }: PersonaContext) => workspace.write(`${name}.txt`, `${name}\n`));
  const one = (name: string, options: { dependsOn: string[]; consumes?: string[]; delivers?: boolean }) =>
    phase(name, {
      dependsOn: options.dependsOn,
      personas: [
        persona(`p${name}`, {
          run: writes(`p${name}`),
          ...(options.consumes && { consumes: options.consumes }),
          ...(options.delivers && { contract: { deliverables: [`p${name}.txt`] } }),
        }),
      ],
    });
  return defineTeam("branches", {
    phases: [
      one("a", { dependsOn: [] }),
      one("b", { dependsOn: ["a"], consumes: [], delivers: pbDelivers }),
      one("c", { dependsOn: ["a"] }),
      one("d", { dependsOn: ["b"] }),
      one("e", { dependsOn: ["c", "d"] }),
    ],
  });
}

interface Start {
  readonly until?: string;
  readonly given?: Record<string, object>;
}

async function finished(place: TeamPlace, start: Start = {}) {
  const maestro = await place.open();
  const session = await maestro.start(branches(place), { brief: "x", ...start });
  await session.result();
  place.ran.length = 0;
  const plan = async (request: Parameters<typeof maestro.planFork>[1]) => {
    const { personas } = await maestro.planFork(session.id, request);
    return Object.fromEntries(personas.map(({ persona, action }) => [persona, action]));
  };
  return { maestro, id: session.id, plan };
}

describe("a fork in one branch of a graph", () => {
  it("runs nothing in the other branch, even with fresh, and keeps people's edits there", async () => {
    const place = new TeamPlace();
    const { maestro, id, plan } = await finished(place, { until: "d" });
    await (await maestro.resume(id, { edits: { d: { files: { "pd.txt": "by a person\n" } } } })).result();
    place.ran.length = 0;
    expect(await plan({ at: "c", fresh: true })).toEqual({
      pa: "kept",
      pb: "kept",
      pc: "runs",
      pd: "kept",
      pe: "runs",
    });
    const fork = await maestro.fork(id, { at: "c", fresh: true });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pc", "pe"]);
    expect(await place.filesOf(maestro, fork.id)).toMatchObject({ "pd.txt": "by a person\n" });
    const { phases } = await maestro.show(fork.id);
    expect(phases.map(({ name, source }) => [name, source.kind])).toContainEqual(["d", "inherited"]);
  });

  it("runs the phases of the other branch that an edit of a common dependency reaches, and no others", async () => {
    const place = new TeamPlace();
    const { maestro, id, plan } = await finished(place);
    const request = { at: "c", fresh: true, edits: { a: { outputs: { said: "more" } } } };
    expect(await plan(request)).toEqual({ pa: "kept", pb: "reused", pc: "runs", pd: "runs", pe: "runs" });
    const fork = await maestro.fork(id, request);
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pc", "pd", "pe"]);
  });

  it("runs the other branch where its team has changed", async () => {
    const place = new TeamPlace();
    const { maestro, id, plan } = await finished(place);
    const team = branches(place, { pbDelivers: true });
    expect(await plan({ at: "c", team })).toEqual({
      pa: "kept",
      pb: "runs",
      pc: "reused",
      pd: "may-run",
      pe: "may-run",
    });
    const fork = await maestro.fork(id, { at: "c", team });
    await (await maestro.resume(fork.id, { team })).result();
    expect(place.ran).toEqual(["pb"]);
  });

  it("keeps a phase of the other branch that came from outside, also with other personas", async () => {
    const place = new TeamPlace();
    const { plan } = await finished(place, { given: { b: { files: { "pb.txt": "given\n" } } } });
    const team = branches(place, { pbDelivers: true });
    expect(await plan({ at: "c", team })).toMatchObject({ pa: "kept", pb: "kept", pc: "reused" });
  });

  it("continues the other branch where it was not finished", async () => {
    const place = new TeamPlace();
    const { maestro, id, plan } = await finished(place, { until: "c" });
    expect(await plan({ at: "c", fresh: true })).toEqual({
      pa: "kept",
      pb: "kept",
      pc: "runs",
      pd: "runs",
      pe: "runs",
    });
    const fork = await maestro.fork(id, { at: "c", fresh: true });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pc", "pd", "pe"]);
  });

  it("may edit a phase of the other branch that has more dependencies than its own", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const edits = { d: { files: { "pd.txt": "by a person\n" } } };
    const fork = await maestro.fork(id, { at: "c", edits });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pe"]);
  });
});
