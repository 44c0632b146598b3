import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { calls, ModelHive, protocols } from "../../support/model-hive.ts";
import type { Reply } from "../../support/paid-models.ts";
import { sendAgain } from "../../support/sent-calls.ts";
import { callsIn, kindOf, transcriptIn } from "../../support/transcripts.ts";

const secret = "sk-abcdefghijklmnop0123456789";
const lines = Array.from({ length: 300 }, (_, line) => `line ${line} of the check`).join("\\n");

/** Writes a wrong file, submits, is told of the failed check, mends it and submits again. */
const reply: Reply = ({ attempt, answersBefore }) => {
  if (answersBefore === 0)
    return {
      reasoning: "The brief wants a title.",
      text: `I write it. My key is ${secret}.`,
      calls: [
        { id: "w", tool: "write_file", input: { path: "a.md", content: attempt === 1 ? "none" : "# A" } },
      ],
    };
  return calls("submit", { summary: "done" });
};

const writer = defineTeam("writers", {
  phases: [
    phase("write", {
      personas: [
        persona("writer", {
          instructions: "Write.",
          contract: {
            deliverables: ["a.md"],
            checks: [{ name: "title", run: ["sh", "-c", `printf '${lines}\\n'; grep -q '^# ' a.md`] }],
          },
        }),
      ],
    }),
  ],
});

describe("the transcript of a session", () => {
  it.each(protocols)("has every call to %s as it was sent, and the whole of what followed", async (model) => {
    const hive = await ModelHive.open(reply, { model });
    const { result } = await hive.run(writer);
    expect(result.status).toBe("completed");
    const items = await transcriptIn(hive.maestro, result.id);
    expect(callsIn(items)).toHaveLength(4);
    const masked = hive.models.log.filter(({ text }) => !text.includes(secret)).map(({ hash }) => hash);
    // A prompt that repeats the secret differs from what was sent by its mask alone.
    expect(
      await sendAgain(callsIn(items).filter((call) => !JSON.stringify(call).includes("[redacted]"))),
    ).toEqual(masked);
    expect(JSON.stringify(items)).not.toContain(secret);

    const first = items.filter(({ attempt }) => attempt === 1);
    expect(first.map(({ kind }) => kind).filter((kind) => kind !== "reasoning")).toEqual([
      "prompt",
      "answer",
      "tool",
      "prompt",
      "answer",
      "check",
      "check",
      "ending",
    ]);
    const [answer] = kindOf(items, "answer");
    expect(answer).toMatchObject({
      persona: "writer",
      phase: "write",
      attempt: 1,
      content: "I write it. My key is [redacted].",
      toolCalls: [{ tool: "write_file", arguments: { path: "a.md", content: "none" } }],
      usage: { inputTokens: 1001, cachedInputTokens: 100, outputTokens: 51, estimatedTokens: 0 },
    });
    expect(answer?.usage?.cacheShare).toBeCloseTo(100 / 1001);
    expect(answer?.ms).toBeGreaterThanOrEqual(answer?.firstTokenMs ?? Number.POSITIVE_INFINITY);
    expect(kindOf(items, "tool")[0]).toMatchObject({
      tool: "write_file",
      status: "done",
      arguments: { path: "a.md", content: "none" },
    });
    const [check] = kindOf(items, "check").filter(({ check }) => check === "title");
    expect(check).toMatchObject({ status: "failed", attempt: 1 });
    expect(check?.content.split("\n").filter((line) => line.endsWith("of the check"))).toHaveLength(300);
    expect(kindOf(items, "ending").map(({ status }) => status)).toEqual(["failed", "completed"]);
    const costs = kindOf(items, "answer").map(({ usage }) => usage?.costUsd ?? 0);
    const { usage } = await hive.maestro.show(result.id);
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(usage.costUsd ?? 0);
  });

  it("has the reasoning of a model that shows it", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[2] });
    const { result } = await hive.run(writer);
    const items = await transcriptIn(hive.maestro, result.id);
    expect(kindOf(items, "reasoning")[0]?.content).toBe("The brief wants a title.");
  });

  it("can be limited to an attempt, and refuses names that the session does not have", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[0] });
    const { result } = await hive.run(writer);
    const second = await transcriptIn(hive.maestro, result.id, { persona: "writer", attempt: 2 });
    expect(new Set(second.map(({ attempt }) => attempt))).toEqual(new Set([2]));
    expect(second[0]).toMatchObject({ kind: "prompt", repeats: 0 });
    const all = await transcriptIn(hive.maestro, result.id);
    const middle = all[4]?.seq ?? 0;
    expect(await transcriptIn(hive.maestro, result.id, { after: middle })).toEqual(
      all.filter(({ seq }) => (seq ?? 0) > middle),
    );
    await expect(transcriptIn(hive.maestro, result.id, { persona: "writter" })).rejects.toThrow(
      'no persona "writter". Did you mean "writer"?',
    );
    await expect(transcriptIn(hive.maestro, result.id, { persona: "writer", attempt: 3 })).rejects.toThrow(
      "There is no attempt 3: writer has 2 attempts.",
    );
    await expect(transcriptIn(hive.maestro, result.id, { attempt: 1 })).rejects.toThrow(
      "An attempt belongs to a persona.",
    );
  });

  it("keeps the words of people, and the calls of a fork's parent without their price", async () => {
    const hive = await ModelHive.open(reply, { model: protocols[2] });
    const team = defineTeam("reviewed", {
      phases: [
        phase("write", { personas: [persona("writer", { instructions: "Write." })] }),
        phase("read", { personas: [persona("reader", { instructions: "Read." })] }),
      ],
    });
    const session = await hive.maestro.start(team, { brief: "Do it.", pauseAfter: ["write"] });
    await session.result();
    await hive.maestro.reject(session.id, { note: "Mention Bern." });
    await (await hive.maestro.resume(session.id)).result();
    await hive.maestro.approve(session.id, { note: "Good." });
    expect((await (await hive.maestro.resume(session.id)).result()).status).toBe("completed");
    const items = await transcriptIn(hive.maestro, session.id);
    expect(kindOf(items, "person").map(({ action, content }) => [action, content])).toEqual([
      ["reject", "rejected write: Mention Bern."],
      ["approve", "approved write: Good."],
    ]);
    const fork = await hive.maestro.fork(session.id, { at: "read" });
    const copied = await transcriptIn(hive.maestro, fork.id);
    expect(kindOf(copied, "answer")[0]).toMatchObject({
      reused: true,
      usage: { costUsd: null, inputTokens: 1001 },
    });
  });
});
