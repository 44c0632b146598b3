import type { SessionView } from "../../index.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { ago, plain, print, printJson } from "../output.ts";

export async function show(idOrKey: string, options: GlobalOptions): Promise<void> {
  const view = await withMaestro(options, (maestro) => maestro.show(idOrKey));
  if (options.json) return printJson(view);
  for (const line of describe(view)) print(plain(line));
}

/** In the order in which somebody on call asks: is anything lost, why did it stop, what do I do. */
function* describe(view: SessionView): Generator<string> {
  const { id, key, team, status, reason, brief, phases, steps, updatedAt, error } = view;
  const brieflyStated = brief.length > 200 ? `${brief.slice(0, 200)}…` : brief;
  yield `Session ${id}${key === null ? "" : ` (key ${key})`}: ${status}${reason === null ? "" : ` (${reason})`}, changed ${ago(Date.parse(updatedAt))}`;
  yield `Team ${team}: ${brieflyStated}`;
  yield `${steps} steps recorded; they will not run again.`;
  for (const phase of phases) {
    yield `${phase.name}: ${phase.status}${phase.checkpoint === null ? "" : `, sealed ${phase.checkpoint.sha256.slice(0, 12)}`}`;
    for (const persona of phase.personas) {
      yield `  ${persona.name}: ${persona.status}${persona.summary === null ? "" : `, ${persona.summary}`}`;
      for (const { round, attempt, failure } of persona.attempts) {
        if (failure !== null) yield `    round ${round} attempt ${attempt} failed: ${failure.message}`;
      }
    }
  }
  if (error !== null) yield `Why it stopped: ${error.message} ${error.advice ?? ""}`;
  if (status !== "completed" && status !== "canceled") yield `Go on with: maestro resume ${id}`;
}
