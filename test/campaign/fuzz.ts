import type { Trial } from "./campaign.ts";
import { attackWithFiles } from "./hostile-files.ts";
import { attackApp } from "./hostile-http.ts";
import { attackWithImports } from "./hostile-imports.ts";

/** Twenty trials try 10,000 inputs. */
const inputsPerTrial = 500;

export const fuzzTrials: readonly Trial[] = [
  { title: "forged exports", run: (seed) => attackWithImports(seed, inputsPerTrial) },
  { title: "team files and configurations", run: (seed) => attackWithFiles(seed, inputsPerTrial) },
  { title: "requests with bodies", run: (seed) => attackApp(seed, inputsPerTrial) },
];
