import { ContractUnfulfilled, defineTeam, persona, phase } from "../../../src/index.ts";
import { untilSignal } from "../work.ts";

const isMissing = (number: number): boolean => number % 280 === 0;
const firstSlow = 861;

/** How many finish without a signal, the extractor included. */
export const translatedAtOnce = firstSlow - 1 - 3 + 1;

/** A thousand personas in one phase: most are done, three fail, the last ones are at work or wait for a place. */
export default defineTeam("translation", {
  parallel: 50,
  phases: [
    phase("extract", { personas: [persona("extractor", { run: () => ({ summary: "1,204 texts" }) })] }),
    phase("translation", {
      personas: Array.from({ length: 1_000 }, (_, index) =>
        persona(`translator_${String(index + 1).padStart(4, "0")}`, {
          maxAttempts: 1,
          run: async ({ signal }) => {
            if (isMissing(index + 1))
              throw new ContractUnfulfilled("placeholders differ: {price} is missing");
            if (index + 1 >= firstSlow) await untilSignal("translated", signal);
            return { summary: "translated" };
          },
        }),
      ),
    }),
    phase("review", { personas: [persona("technical_writer", { run: () => ({ summary: "reviewed" }) })] }),
  ],
});
