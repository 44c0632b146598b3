import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { type Act, counted, sh, write } from "./counted-persona.ts";
import { TeamPlace } from "./place.ts";

describe("a persona that is sent back", () => {
  it("because its check fails on the merged files keeps its earlier work", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("fails", {
      phases: [
        phase("p", {
          personas: [
            counted(place, "A", write({ "a.txt": "a" })),
            counted(
              place,
              "B",
              (context, times) =>
                times === 1 ? write({ "b.txt": "b" })(context, 1) : write({ "ok.txt": "ok" })(context, 2),
              { contract: sh("ok", "test ! -e a.txt || test -e ok.txt") },
            ),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["A", "B", "B"]);
    expect(await place.filesOf(maestro, session.id)).toEqual({ "a.txt": "a", "b.txt": "b", "ok.txt": "ok" });
  });

  it("because of a clash keeps its files that do not clash", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("clash", {
      phases: [
        phase("p", {
          personas: [
            counted(place, "A", write({ "x.txt": "a\n" })),
            counted(place, "B", (context, times) =>
              write(times === 1 ? { "b.txt": "b", "x.txt": "b\n" } : { "x.txt": "a\nb\n" })(context, times),
            ),
            counted(place, "C", write({ "c.txt": "c" })),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran.toSorted()).toEqual(["A", "B", "B", "C"]);
    expect(await place.filesOf(maestro, session.id)).toEqual({
      "b.txt": "b",
      "c.txt": "c",
      "x.txt": "a\nb\n",
    });
  });

  it("may correct its own file without clashing with itself, and a fork takes its whole work over", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const reasons: string[] = [];
    const team = defineTeam("own", {
      phases: [
        phase("p", {
          personas: [
            counted(
              place,
              "A",
              async (context, times) => {
                reasons.push(...context.failures.map(({ message }) => message));
                if (times === 1) return write({ "a.txt": "a\n", "more.txt": "more\n" })(context, 1);
                return write({ "a.txt": "a\nb\n" })(context, 2);
              },
              { contract: sh("knows", "test ! -e b.txt || grep -q b a.txt") },
            ),
            counted(place, "B", write({ "b.txt": "b\n" })),
          ],
        }),
        phase("q", { personas: [counted(place, "Q", () => ({}))] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran.toSorted()).toEqual(["A", "A", "B", "Q"]);
    expect(reasons).toEqual([expect.stringMatching(/A does not fulfill its contract/)]);
    const files = { "a.txt": "a\nb\n", "b.txt": "b\n", "more.txt": "more\n" };
    expect(await place.filesOf(maestro, session.id)).toEqual(files);
    const fork = await maestro.fork(session.id, { at: "p" });
    place.ran.length = 0;
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual([]);
    expect(await place.filesOf(maestro, fork.id)).toEqual(files);
  });

  it("after another that built on its work loses nothing of either", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("built-on", {
      phases: [
        phase("p", {
          personas: [
            counted(
              place,
              "A",
              (context, times) =>
                write(times === 1 ? { "x.txt": "a\n" } : { "ok.txt": "ok\n" })(context, times),
              { contract: sh("ok", "! grep -q b x.txt || test -e ok.txt") },
            ),
            counted(place, "B", (context, times) =>
              write({ "x.txt": times === 1 ? "b\n" : "a\nb\n", [`b${times}.txt`]: "b\n" })(context, times),
            ),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran.toSorted()).toEqual(["A", "A", "B", "B"]);
    expect(await place.filesOf(maestro, session.id)).toEqual({
      "b1.txt": "b\n",
      "b2.txt": "b\n",
      "ok.txt": "ok\n",
      "x.txt": "a\nb\n",
    });
  });

  it("together with another gets its own files back, and neither undoes the other", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const both = (own: string): [Act, Record<string, unknown>] => [
      (context, times) => write({ [times === 1 ? own : `${own}-ok`]: own })(context, times),
      { contract: sh("ok", `test $(ls | wc -l) -lt 2 || test -e ${own}-ok`) },
    ];
    const team = defineTeam("both", {
      phases: [
        phase("p", { personas: [counted(place, "A", ...both("a")), counted(place, "B", ...both("b"))] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(Object.keys(await place.filesOf(maestro, session.id))).toEqual(["a", "a-ok", "b", "b-ok"]);
  });

  it("still sees only the files it consumes, its own files and the clashing ones", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const seen: (readonly string[])[] = [];
    const team = defineTeam("hidden", {
      phases: [
        phase("r", {
          personas: [
            counted(place, "P1", write({ "secret.txt": "s", "other.txt": "s" })),
            counted(place, "P2", write({ "pub.txt": "p" })),
          ],
        }),
        phase("p", {
          personas: [
            counted(
              place,
              "B",
              async (context, times) => {
                seen.push(context.workspace.list());
                if (times === 1) await write({ "secret.txt": "mine", "b.txt": "b" })(context, times);
              },
              { consumes: ["P2"] },
            ),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(seen).toEqual([["pub.txt"], ["b.txt", "pub.txt", "secret.txt"]]);
    expect(await place.filesOf(maestro, session.id)).toEqual({
      "b.txt": "b",
      "other.txt": "s",
      "pub.txt": "p",
      "secret.txt": "s",
    });
  });

  it("after a fork took its result over gets the reason", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const told: string[] = [];
    const team = defineTeam("reused", {
      phases: [
        phase("r", {
          personas: [
            persona("x", { run: place.work("x", () => ({ v: 1 })) }),
            persona("y", { run: place.work("y", () => ({ v: 1 })) }),
          ],
        }),
        phase("p", {
          personas: [
            counted(
              place,
              "A",
              ({ workspace, context }) => {
                const first = context.results["r"]?.["x"]?.outputs["v"] === 1;
                return workspace.write(first ? "a.txt" : "shared.txt", "from A\n");
              },
              { consumes: ["x"] },
            ),
            counted(
              place,
              "B",
              async ({ workspace, failures }) => {
                told.push(...failures.map(({ message }) => message));
                const before = workspace.list().includes("shared.txt")
                  ? await workspace.readText("shared.txt")
                  : "";
                await workspace.write("shared.txt", `${failures.length > 0 ? before : ""}from B\n`);
              },
              { consumes: ["y"] },
            ),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    place.ran.length = 0;
    const fork = await maestro.fork(session.id, { at: "p", edits: { r: { outputs: { x: { v: 2 } } } } });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["A", "B"]);
    expect(told).toEqual([expect.stringMatching(/changes of B clash with those of A: shared\.txt/)]);
    expect(await place.filesOf(maestro, fork.id)).toEqual({ "shared.txt": "from A\nfrom B\n" });
  });

  it("gets the names of the personas whose files clash, and no others", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const told: string[] = [];
    const team = defineTeam("blame", {
      phases: [
        phase("p", {
          personas: [
            counted(place, "A", write({ "a.txt": "a" })),
            counted(place, "B", write({ "x.txt": "b" })),
            counted(place, "C", (context, times) => {
              told.push(...context.failures.map(({ message }) => message));
              return write(times === 1 ? { "x.txt": "c" } : {})(context, times);
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(told).toEqual(["The changes of C clash with those of B: x.txt"]);
  });
});

describe("a phase with groups", () => {
  it("whose later group breaks a deliverable of an earlier one sends the earlier persona back", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("must", {
      phases: [
        phase("p", {
          personas: [
            counted(place, "A", write({ "a.txt": "a", "z.txt": "z" }), {
              contract: { deliverables: [{ name: "a", files: ["a.txt"] }] },
            }),
            counted(
              place,
              "B",
              async (context) => {
                await context.workspace.remove("a.txt");
                await context.workspace.write("b.txt", "b");
              },
              { consumes: ["A"] },
            ),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["A", "B", "A"]);
    const [shown] = (await maestro.show(session.id)).phases;
    expect(shown?.gate).toMatchObject({ verdict: "passed", score: 1 });
    expect(await place.filesOf(maestro, session.id)).toEqual({ "a.txt": "a", "b.txt": "b", "z.txt": "z" });
  });

  it("that is rejected starts its later groups on the new work of the earlier ones", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const seen: string[] = [];
    const team = defineTeam("again", {
      phases: [
        phase("p", {
          review: true,
          personas: [
            counted(place, "A", (context, times) => write({ "a.txt": `a${times}` })(context, times)),
            counted(
              place,
              "B",
              async (context, times) => {
                seen.push(await context.workspace.readText("a.txt"));
                if (times === 1) await write({ "b.txt": "b" })(context, times);
              },
              { consumes: ["A"] },
            ),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    await maestro.reject(session.id, { note: "again" });
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "parked", reason: "review" });
    expect(seen).toEqual(["a1", "a2"]);
    expect(await place.filesOf(maestro, session.id)).toEqual({ "a.txt": "a2", "b.txt": "b" });
  });
});
