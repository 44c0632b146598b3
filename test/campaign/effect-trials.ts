import type { Trial } from "./campaign.ts";
import { killAroundEffects } from "./effects.ts";
import { killAroundActs } from "./effects-acts.ts";
import { stopOwner } from "./effects-owners.ts";
import { killServer } from "./effects-served.ts";
import { killAroundTools } from "./effects-tools.ts";

export const effectTrials: readonly Trial[] = [
  { title: "steps of functions", run: killAroundEffects },
  { title: "tools in code, tools of a server, and commands, of models", run: killAroundTools },
  { title: "steps in processes of a server, settled over HTTP", run: killServer },
  { title: "reject, fork and cancel", run: killAroundActs },
  { title: "a probe while the owner is stopped", run: stopOwner },
];
