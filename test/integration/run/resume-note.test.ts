import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { calls, ModelHive, protocols } from "../../support/model-hive.ts";
import type { Reply } from "../../support/paid-models.ts";
import { kindOf, transcriptIn } from "../../support/transcripts.ts";

const note = "The office is in Bern.";
const once = { attempts: { max: 1 }, rounds: { max: 1 } };

/** Knows the office only when it was told. */
const reply: Reply = ({ text, answersBefore }) =>
  answersBefore === 0
    ? calls("write_file", { path: "office.md", content: text.includes(note) ? "Bern" : "somewhere" })
    : calls("submit", { summary: "done" });

const team = defineTeam("office", {
  phases: [
    phase("find", {
      personas: [
        persona("finder", {
          instructions: "Find the office.",
          contract: { checks: [{ name: "right", run: ["grep", "-q", "Bern", "office.md"] }] },
        }),
      ],
    }),
    phase("close", { personas: [persona("closer", { instructions: "Close the case." })] }),
  ],
});

describe("a note with a resume", () => {
  it("reaches the next attempt of the persona that needs help, and no later phase", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[2], ...once });
    const { result } = await hive.run(team);
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    const resumed = await (await hive.maestro.resume(result.id, { note })).result();
    expect(resumed.status).toBe("completed");
    const told = hive.models.log.filter(({ text }) => text.includes(note));
    expect(new Set(told.map(({ persona }) => persona))).toEqual(new Set(["finder"]));
    const items = await transcriptIn(hive.maestro, result.id);
    expect(kindOf(items, "person").map(({ action, content }) => [action, content])).toEqual([["note", note]]);
  });

  it("is refused when no attempt is left, and when it is empty", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[2], ...once });
    const { result } = await hive.run(team);
    await expect(hive.maestro.resume(result.id, { note: " " })).rejects.toThrow("A note is a text of 1 to");
    await (await hive.maestro.resume(result.id, { note })).result();
    const again = hive.maestro.resume(result.id, { note }).then((session) => session.result());
    await expect(again).rejects.toThrow("No attempt is left");
  });
});
