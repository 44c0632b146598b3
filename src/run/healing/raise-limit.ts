import type { Healer } from "./healer.ts";

/** Work that stood still twice in a row may take longer, up to what its team allows. One silence passes by itself. */
export const raiseLimit: Healer = {
  name: "raise-limit",
  categories: ["TIMEOUT"],
  heal: async ({ failure, earlier, timeoutMs, maxTimeoutMs }) => {
    const before = earlier.at(-1);
    // A dependency that does not answer in time is no silence of the work.
    const stoodStill = [failure, before].every(
      (each) => each?.category === "TIMEOUT" && isSilence(each.message),
    );
    const raisedMs = Math.min(timeoutMs * 2, maxTimeoutMs);
    if (!stoodStill || raisedMs <= timeoutMs) return undefined;
    return { action: { kind: "raised-limit", limit: "timeoutMs", from: timeoutMs, to: raisedMs } };
  },
};

const isSilence = (message: string): boolean => message.startsWith("No progress for ");
