import * as is from "../schema.ts";
import type { SetupState } from "../setup-state.ts";
import { event, shorten } from "./define.ts";

const setupFields = {
  /** The key of its layer. */
  key: is.sha256,
  run: is.list(is.text),
  /** The lockfile that it was derived from; missing for a setup of the team. */
  foundBy: is.optional(is.text),
  /** Install scripts are off if a persona changed the inputs. */
  scripts: is.literal("on", "off"),
};

export const setupEvents = {
  /** Dependencies are about to be installed. */
  "setup.started": event({
    row: is.object(setupFields),
    reduce: (state) => state,
    fact: ({ run, foundBy = null, scripts }) => ({ command: shorten(run.join(" ")), foundBy, scripts }),
    logged: () => "installs dependencies",
    sentence: ({ command, foundBy, scripts }) =>
      `installs dependencies: ${command}${foundBy === null ? "" : ` (found ${foundBy})`}${scripts === "off" ? ", without install scripts" : ""}`,
    isTransition: true,
  }),
  "setup.ended": event({
    row: is.object({
      ...setupFields,
      /** `reused`: another session has installed the same. */
      outcome: is.literal("prepared", "reused", "failed"),
      durationMs: is.whole,
      /** Its complete output. */
      output: is.optional(is.sha256),
    }),
    reduce(state, entry, { at }) {
      const { kind: _, ...setup } = entry;
      const ended: SetupState = { ...setup, at };
      return { ...state, setups: new Map(state.setups).set(setup.key, ended) };
    },
    fact: ({ run, outcome, durationMs, output = null }) => ({
      command: shorten(run.join(" ")),
      outcome,
      durationMs,
      output,
    }),
    logged: ({ outcome }) => outcomes[outcome],
    sentence: ({ command, outcome }) => `${outcomes[outcome]}: ${command}`,
    mark: ({ outcome }) => (outcome === "failed" ? "bad" : outcome === "reused" ? "reused" : "good"),
    isTransition: true,
    isFailure: ({ outcome }) => outcome === "failed",
  }),
};

const outcomes = {
  prepared: "installed dependencies",
  reused: "uses installed dependencies",
  failed: "could not install dependencies",
} as const;
