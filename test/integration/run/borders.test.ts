import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { treeLimits } from "../../../src/domain/tree-path.ts";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

describe("the files of a session", () => {
  it("may all be removed: the session continues, seals its checkpoint, and can be read and forked", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const seen: (readonly string[])[] = [];
    const team = defineTeam("emptied", {
      phases: [
        phase("a", {
          personas: [
            persona("A", { run: place.work("A", ({ workspace }) => workspace.write("a.txt", "a")) }),
          ],
        }),
        phase("b", {
          personas: [persona("B", { run: place.work("B", ({ workspace }) => workspace.remove("a.txt")) })],
        }),
        phase("c", {
          personas: [
            persona("C", {
              run: place.work("C", ({ workspace }) => {
                seen.push(workspace.list());
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(seen).toEqual([[]]);
    expect(await place.filesOf(maestro, session.id)).toEqual({});
    expect((await maestro.checkpoints(session.id)).map(({ phase }) => phase)).toEqual([
      "init",
      "a",
      "b",
      "c",
    ]);
    const fork = await maestro.fork(session.id, { at: "c", fresh: true });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(seen).toEqual([[], []]);
    const folder = mkdtempSync(join(tmpdir(), "maestro-carry-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const bundle = join(folder, "session.gz");
    await maestro.exportCheckpoints(session.id, bundle);
    const elsewhere = await new TeamPlace().open();
    await elsewhere.importCheckpoints(bundle, { trust: true });
    expect(await elsewhere.show(session.id)).toMatchObject({ id: session.id });
  });

  it("that exceed the size limit are not taken over from a command, and the session stays intact", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const write = (path: string, bytes: number) =>
      `require("node:fs").writeFileSync("${path}", Buffer.alloc(${bytes}, 97))`;
    const script = [
      write("border.txt", treeLimits.maxFileBytes),
      write("over.txt", treeLimits.maxFileBytes + 1),
    ];
    const team = defineTeam("large", {
      phases: [
        phase("a", {
          personas: [persona("A", { command: [process.execPath, "-e", script.join(";")] })],
        }),
        phase("b", { personas: [persona("B", { run: place.work("B") })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { artifacts } = await maestro.show(session.id);
    expect(artifacts.map(({ path, bytes }) => [path, bytes])).toEqual([
      ["border.txt", treeLimits.maxFileBytes],
    ]);
  });
});
