import { flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { loadTeam, open } from "./package.ts";

/** A process that drives a team of models through real provider packages, and is killed at it. */
export interface DriveModelsOptions {
  readonly stateDir: string;
  readonly model: string;
  /** A file of this folder. */
  readonly team: string;
  /** Points the provider packages to our server. */
  readonly env: Readonly<Record<string, string>>;
}

const { stateDir, model, team: file, env } = JSON.parse(process.argv[2] ?? "") as DriveModelsOptions;
Object.assign(process.env, env);
const delays = { baseDelayMs: 5, maxDelayMs: 5 };
const maestro = await open({ stateDir, attempts: delays, rounds: delays });
const { team } = await loadTeam(fileURLToPath(new URL(file, import.meta.url)));
const session = await maestro.start(team, { brief: "A shelf for forty books.", key: "shelf", model });
process.send?.("ready");
// A killed process does not write its compile cache, and the next one would start slowly.
setTimeout(flushCompileCache, 400).unref();
const { id: _, ...ending } = await session.result();
const { artifacts, usage } = await maestro.show(session.id);
console.log(JSON.stringify({ ending, artifacts, usage }));
await maestro.close();
