import { baselineRun, beforeWeBegan } from "../judgment-values.ts";
import { event } from "./define.ts";

export const baselineEvents = {
  "baseline.measured": event({
    row: baselineRun,
    reduce(state, entry) {
      const { kind: _, ...run } = entry;
      return { ...state, baseline: new Map(state.baseline).set(run.key, run), recoveries: 0 };
    },
    fact: ({ checks, status, awaited, tests = null }) => ({
      checks,
      status,
      tests,
      ...(awaited !== undefined && { awaited }),
    }),
    logged: "sentence",
    sentence: (fact) => `check ${fact.checks.join(", ")}: ${beforeWeBegan(fact, fact.tests)}`,
    mark: ({ status }) => (status === "passed" ? "good" : "waits"),
    isTransition: true,
    isQuiet: ({ status, tests, awaited }) => tests === null && (status === "passed" || awaited === true),
  }),
};
