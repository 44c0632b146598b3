import type { Healer } from "./healer.ts";

/** Answers that were cut again and again at the team's own limit may be longer, up to what the team allows. */
export const allowLongerAnswers: Healer = {
  name: "longer-answers",
  categories: ["CONTRACT"],
  heal: async ({ failure, outputTokens }) => {
    if (outputTokens === undefined || !/ answers cut at \d+ tokens\.$/.test(failure.message))
      return undefined;
    const { limit: from, most } = outputTokens;
    const to = Math.min(2 * from, most);
    return to <= from ? undefined : { action: { kind: "raised-limit", limit: "maxOutputTokens", from, to } };
  },
};
