import type { Healer } from "./healer.ts";

const smallestShare = 0.1;

/** A prompt that does not fit its model is tried again with half of what is optional in it. */
export const shortenContext: Healer = {
  name: "shorten-context",
  categories: ["RESOURCE"],
  heal: async ({ failure, settings }) => {
    if (failure.code !== "context_length_exceeded") return undefined;
    const contextShare = (settings.contextShare ?? 1) / 2;
    if (contextShare < smallestShare) return undefined;
    return {
      action: `keep ${Math.round(contextShare * 100)} % of the earlier results in the prompt`,
      settings: { contextShare },
    };
  },
};
