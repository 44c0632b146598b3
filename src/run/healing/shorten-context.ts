import type { Healer } from "./healer.ts";

const smallestShare = 0.1;

/** A prompt that does not fit its model is tried again with half of what is optional in it. */
export const shortenContext: Healer = {
  name: "shorten-context",
  categories: ["RESOURCE"],
  heal: async ({ failure, settings }) => {
    if (failure.code !== "context_length_exceeded") return undefined;
    const from = settings.contextShare ?? 1;
    const to = from / 2;
    return to < smallestShare ? undefined : { action: { kind: "shortened-context", from, to } };
  },
};
