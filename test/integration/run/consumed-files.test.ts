import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

/** An author whose pattern matches the files of all personas, and readers of it and of its neighbor. */
async function authors() {
  const place = new TeamPlace();
  const maestro = await place.open();
  const saw: Record<string, readonly string[]> = {};
  const writes =
    (...paths: readonly string[]) =>
    async ({ workspace }: PersonaContext) => {
      for (const path of paths) await workspace.write(path, path);
    };
  const reader = (name: string, consumes: readonly string[]) =>
    persona(name, {
      consumes,
      run: place.work(name, ({ workspace }) => {
        saw[name] = workspace.list();
      }),
    });
  const contract = { deliverables: [{ name: "texts", files: ["**/*.md"] }] };
  const team = defineTeam("authors", {
    phases: [
      phase("before", {
        personas: [
          persona("early", { run: place.work("early", writes("early.md", "early.txt")) }),
          persona("hidden", { run: place.work("hidden", writes("hidden.md")) }),
        ],
      }),
      phase("work", {
        review: true,
        personas: [
          persona("author", {
            contract,
            consumes: ["early"],
            run: place.work("author", writes("docs/a.md", "notes.txt")),
          }),
          persona("other", { run: place.work("other", writes("secret.md")) }),
          reader("inside", ["author"]),
        ],
      }),
      phase("after", {
        personas: [persona("late", { consumes: ["other"], run: place.work("late", writes("late.md")) })],
      }),
      phase("end", { personas: [reader("of_author", ["author"]), reader("of_other", ["other"])] }),
    ],
  });
  const session = await maestro.start(team, { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
  return { maestro, id: session.id, saw };
}

describe("a consumer of a persona with a broad pattern", () => {
  it("sees the files that this persona made or found and delivers, and no files that others made", async () => {
    const { maestro, id, saw } = await authors();
    await maestro.approve(id);
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
    expect(saw).toEqual({
      inside: ["docs/a.md", "early.md", "notes.txt"],
      of_author: ["docs/a.md", "early.md", "notes.txt"],
      of_other: ["secret.md"],
    });
  });

  it("sees matching files that a person added, and consumers of its neighbors do not", async () => {
    const { maestro, id, saw } = await authors();
    const files = { "docs/b.md": "by hand", "by-hand.txt": "by hand" };
    const resumed = await maestro.resume(id, { edits: { work: { files } } });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    expect(saw["of_author"]).toEqual(["by-hand.txt", "docs/a.md", "docs/b.md", "early.md", "notes.txt"]);
    expect(saw["of_other"]).toEqual(["by-hand.txt", "secret.md"]);
  });
});
