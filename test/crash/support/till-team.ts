import type { Team } from "../../../src/index.ts";
import { die } from "./die.ts";
import { leaveMark, readMarks } from "./effects.ts";
import { defineTeam, persona, phase } from "./package.ts";
import type { World } from "./worker.ts";

/** Every effect of the team, as it marks the side file; the first has no probe. */
export const tillEffects = ["charge", "receipt"] as const;

/** Effects in a phase that a person reviews, and may let happen again. */
export function till({ marks, killIn }: World): Team {
  const count = (label: string) => readMarks(marks).filter((mark) => mark === label).length;
  const happen = async (label: string): Promise<string> => {
    const isMeant = killIn?.effect === label;
    if (isMeant && killIn.moment === "before") await die();
    leaveMark(marks, label);
    if (isMeant && killIn.moment === "after") await die();
    return `${label}, done`;
  };
  return defineTeam("till", {
    phases: [
      phase("sell", {
        review: true,
        personas: [
          persona("clerk", {
            run: async ({ step }) => {
              // On record, so that the probe of a later process compares with the same number.
              const before = await step("count", () => count("receipt"));
              await step("charge", () => happen("charge"), { effect: "once" });
              await step("receipt", () => happen("receipt"), {
                effect: "once",
                probe: () =>
                  count("receipt") > before
                    ? { happened: true, result: "receipt, done" }
                    : { happened: false },
              });
              return { summary: "sold" };
            },
          }),
        ],
      }),
    ],
  });
}
