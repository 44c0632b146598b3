import { expect, test } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import type { PersonaReturn } from "../../../src/index.ts";
import type { Transition } from "../../../src/journal/journal.ts";
import { encodeEntry } from "../../../src/journal/journal-codec.ts";
import { reduce } from "../../../src/journal/reduce.ts";
import { emptyState } from "../../../src/journal/session-state.ts";
import { Lives } from "./lives.ts";

const decision = { title: "Database", choice: "SQLite", reason: "one file", rejected: ["PostgreSQL"] };

test("decisions are stored with their session, and rejected options are optional", async () => {
  const lives = new Lives();
  const { rejected: _, ...short } = decision;
  const decisions = [decision, short] as PersonaReturn["decisions"] & object;
  expect(await lives.live(() => ({ summary: "decided", decisions }))).toMatchObject({ status: "completed" });
  expect((await lives.show()).decisions).toMatchObject([decision, { ...short, rejected: [] }]);
});

test.each([
  ["an object", {}],
  ["a number", 5],
  ["a text", "SQLite"],
  ["a list of texts", ["SQLite"]],
  ["a decision without a reason", [{ title: "a", choice: "b" }]],
  ["a rejected that is no list", [{ ...decision, rejected: "all" }]],
  ["too many", Array.from({ length: 101 }, () => decision)],
])(
  "decisions that are %s fail the attempt with the expected form, and the session stays readable",
  async (_, decisions) => {
    const lives = new Lives();
    const result = await lives.live(() => ({ summary: "decided", decisions }) as unknown as PersonaReturn, {
      attempts: { max: 1 },
      rounds: { max: 1 },
    });
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(lives.rows("attempt.failed")).toMatchObject([
      { failure: { category: "CONTRACT", message: expect.stringContaining("title: string") as string } },
    ]);
    expect((await lives.show()).status).toBe("parked");
  },
);

test("a session with recorded decisions of an unknown form can still be opened", () => {
  const place = { phase: "work", persona: "worker" } as const;
  const entries = (decisions: unknown): Transition[] => [
    { kind: "attempt.started", ...place, round: 1, attempt: 1, input: "i" },
    {
      kind: "attempt.completed",
      ...place,
      started: 1,
      result: { summary: "s", outputs: {}, decisions } as never,
    },
  ];
  for (const recorded of [{}, 5, "SQLite", [null, decision]]) {
    let state = emptyState("s" as SessionId);
    for (const [index, entry] of entries(recorded).entries()) {
      const at = { seq: index + 1, epoch: 1, at: 0, hash: "h" };
      state = reduce(state, { ...encodeEntry(entry), ...at });
    }
    expect(state.phases.get("work")?.personas.get("worker")?.result).toMatchObject({ summary: "s" });
    expect(state.decisions).toHaveLength(Array.isArray(recorded) ? 1 : 0);
  }
});
