import { describe, expect, it } from "vitest";
import {
  defineTeam,
  type Maestro,
  type PersonaContext,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";
import { answer, ask, ownModel } from "./own-models.ts";
import { TeamPlace } from "./place.ts";

const accept = async (maestro: Maestro, id: string, team: Team) =>
  (await maestro.resume(id, { team, acceptChanges: true })).result();

const writer = (place: TeamPlace, name: string, path: string, content = name) =>
  persona(name, { run: place.work(name, ({ workspace }) => workspace.write(path, content)) });

/** Two attempts are enough to need help. */
const impatient = { rounds: { max: 1, baseDelayMs: 1, maxDelayMs: 1 } };

/** A team that gets a `dba` before the phase whose `developer` came to nothing. */
function withDba(place: TeamPlace, act: (context: PersonaContext) => unknown, consumes?: readonly string[]) {
  const developer = persona("developer", {
    maxAttempts: 2,
    ...(consumes !== undefined && { consumes }),
    run: place.work("developer", act),
  });
  return (...joined: "dba"[]) =>
    defineTeam("mended", {
      phases: [
        phase("design", {
          personas: [
            writer(place, "architect", "design.md"),
            ...joined.map((name) => writer(place, name, "schema.sql")),
          ],
        }),
        phase("build", { personas: [developer] }),
      ],
    });
}

describe("a session that is parked for help", () => {
  it("keeps and shows the files of a persona that was added before the one that needed help", async () => {
    const place = new TeamPlace();
    const maestro = await place.open(impatient);
    const seen: (readonly string[])[] = [];
    const team = withDba(place, async ({ workspace }) => {
      seen.push(workspace.list());
      await workspace.write("code.js", "c");
      if (!workspace.list().includes("schema.sql")) throw new Error("there is no schema");
    });
    const session = await maestro.start(team(), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    seen.length = 0;
    expect(await accept(maestro, session.id, team("dba"))).toMatchObject({ status: "completed" });
    expect(seen).toEqual([["design.md", "schema.sql"]]);
    expect(Object.keys(await place.filesOf(maestro, session.id))).toEqual([
      "code.js",
      "design.md",
      "schema.sql",
    ]);
    const { personas } = await maestro.planFork(session.id, { at: "build" });
    expect(personas.map(({ persona: name, action }) => `${name} ${action}`)).toContain("developer reused");
  });

  it("drops the starting files of a clash when its phase runs again", async () => {
    const place = new TeamPlace();
    const maestro = await place.open(impatient);
    let fails = true;
    const seen: string[] = [];
    const second = persona("second", {
      run: place.work("second", async ({ workspace, failures }) => {
        const before = workspace.list().includes("x.txt") ? await workspace.readText("x.txt") : "";
        seen.push(before);
        if (failures.length > 0 && fails) throw new Error("cannot");
        await workspace.write("x.txt", `${before}second\n`);
      }),
    });
    const team = (content: string) =>
      defineTeam("clashed", {
        phases: [
          phase("p", {
            personas: [
              persona("first", {
                contract: { outputs: { type: "object", description: content } },
                run: place.work("first", ({ workspace }) => workspace.write("x.txt", content)),
              }),
              second,
            ],
          }),
        ],
      });
    const session = await maestro.start(team("old\n"), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    fails = false;
    seen.length = 0;
    expect(await accept(maestro, session.id, team("new\n"))).toMatchObject({ status: "completed" });
    expect(seen).toEqual(["", "new\n"]);
    expect(await place.filesOf(maestro, session.id)).toEqual({ "x.txt": "new\nsecond\n" });
  });
});

describe("a session that was paused in the middle of an attempt", () => {
  /** Works in two steps, and asks for a pause after the first one, once. */
  function interrupted(place: TeamPlace, consumes?: readonly string[]) {
    const seen: string[] = [];
    const pausing: { act: (() => Promise<unknown>) | undefined } = { act: undefined };
    const team = withDba(
      place,
      async ({ workspace, context, step }) => {
        const results = Object.keys(context.results["design"] ?? {}).join();
        seen.push(`${results}: ${workspace.list().join()}`);
        await step("one", () => seen.push("one"));
        await pausing.act?.();
        await step("two", () => seen.push("two"));
        await workspace.write("code.js", "c");
      },
      consumes,
    );
    const start = async (maestro: Maestro) => {
      const { id } = await maestro.create(team(), { brief: "x" });
      pausing.act = () => {
        pausing.act = undefined;
        return maestro.pause(id);
      };
      expect(await maestro.executeBatch(id)).toMatchObject({ status: "paused" });
      return id;
    };
    return { team, seen, start };
  }

  const attemptsOf = async (maestro: Maestro, id: string) =>
    (await maestro.show(id)).phases[1]?.personas[0]?.attempts.map(({ status }) => status);

  it("starts anew on the files of the new results, when these have changed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { team, seen, start } = interrupted(place);
    const id = await start(maestro);
    expect(seen.splice(0)).toEqual(["architect: design.md", "one"]);
    expect(await accept(maestro, id, team("dba"))).toMatchObject({ status: "completed" });
    expect(seen).toEqual(["architect,dba: design.md,schema.sql", "one", "two"]);
    expect(Object.keys(await place.filesOf(maestro, id))).toEqual(["code.js", "design.md", "schema.sql"]);
    expect(await attemptsOf(maestro, id)).toEqual(["failed", "completed"]);
    const { personas } = await maestro.planFork(id, { at: "build" });
    expect(personas.map(({ persona: name, action }) => `${name} ${action}`)).toContain("developer reused");
  });

  it("continues where it was when the change does not affect its input, also in another process", async () => {
    const place = new TeamPlace();
    const first = await place.open();
    const { team, seen, start } = interrupted(place, ["architect"]);
    const id = await start(first);
    expect(seen.splice(0)).toEqual(["architect: design.md", "one"]);
    await first.close();
    const maestro = await place.open();
    expect(await accept(maestro, id, team("dba"))).toMatchObject({ status: "completed" });
    expect(seen).toEqual(["architect: design.md", "two"]);
    expect(Object.keys(await place.filesOf(maestro, id))).toEqual(["code.js", "design.md", "schema.sql"]);
    expect(await attemptsOf(maestro, id)).toEqual(["completed"]);
  });

  it("does not pay again for an earlier call that it repeats on other files", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const calls: string[] = [];
    const model = ownModel(async ({ prompt }) => {
      calls.push(JSON.stringify(prompt));
      return answer(10, 5);
    });
    let pause: (() => Promise<unknown>) | undefined;
    const team = withDba(place, async (context) => {
      await ask(model, context, "the same");
      await pause?.();
      await ask(model, context, context.workspace.list().join());
    });
    const { id } = await maestro.create(team(), { brief: "x" });
    pause = () => {
      pause = undefined;
      return maestro.pause(id);
    };
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "paused" });
    expect(await accept(maestro, id, team("dba"))).toMatchObject({ status: "completed" });
    expect(calls).toEqual([
      expect.stringContaining("the same"),
      expect.stringContaining("design.md,schema.sql"),
    ]);
  });
});

it("a rejected phase whose team changes before it works again has its own files and the new ones", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const seen: (readonly string[])[] = [];
  const team = withDba(place, async ({ workspace, notes }) => {
    seen.push(workspace.list());
    await workspace.write(notes.length === 0 ? "code.js" : "more.js", "c");
  });
  const { id } = await maestro.create(team(), { brief: "x" });
  await maestro.executeMixed(id, { pauseAfter: ["build"] });
  await maestro.reject(id, { note: "once more" });
  expect(await accept(maestro, id, team("dba"))).toMatchObject({ status: "parked", reason: "review" });
  expect(seen).toEqual([["design.md"], ["code.js", "design.md", "schema.sql"]]);
  expect(Object.keys(await place.filesOf(maestro, id))).toEqual([
    "code.js",
    "design.md",
    "more.js",
    "schema.sql",
  ]);
});
