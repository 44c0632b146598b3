import { describe, expect, it } from "vitest";
import { killAroundCalls, receivingPoints } from "../campaign/people.ts";

describe("a call that waits for a person happens once after its approval and never before", () => {
  it.each([
    "call.waiting:before-commit",
    "call.waiting:after-commit",
    "session.status:before-commit",
    "effect.intended:after-commit",
    "step.tool:before-commit",
    "effect.settled:after-commit",
  ] as const)("when the process that drives is killed at %s", async (point) => {
    expect(await killAroundCalls({ in: "drive", from: 1, kill: { at: "fault", point, hit: 1 } })).toBe(1);
  });

  it.each(receivingPoints)(
    "when the process that drives is killed while it receives the word, at %s",
    async (point) => {
      expect(await killAroundCalls({ in: "receipt", point })).toBe(1);
    },
  );

  it.each([
    ["signal.sent:after-commit", 2],
    ["session.claimed:before-commit", 1],
    ["session.status:before-commit", 3],
  ] as const)("when the person's process is killed at %s", async (point, call) => {
    expect(await killAroundCalls({ in: "decision", call, point })).toBe(1);
  });

  it("when the process is killed after a call with arguments that a person changed, and the persona is told of the change", async () => {
    const kill = { at: "call", call: "send to Carl", moment: "after" } as const;
    expect(await killAroundCalls({ in: "drive", from: 1, kill })).toBe(1);
  });

  it.each([
    ["file to Bob", "after"],
    ["send to Carl", "before"],
  ] as const)("when the process dies in %s, %s it happens", async (call, moment) => {
    expect(await killAroundCalls({ in: "drive", from: 1, kill: { at: "call", call, moment } })).toBe(1);
  });
});
