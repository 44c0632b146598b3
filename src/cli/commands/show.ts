import type { SessionId } from "../../domain/ids.ts";
import type { SessionView } from "../../index.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { ago, plain, print, printJson, resumeCommand } from "../output.ts";

export async function show(idOrKey: string, options: GlobalOptions): Promise<void> {
  const { view, abandoned } = await withMaestro(options, async (maestro) => ({
    view: await maestro.show(idOrKey),
    abandoned: await maestro.abandoned(),
  }));
  const isAbandoned = view.status === "running" && abandoned.has(view.id as SessionId);
  if (options.json) return printJson({ ...view, abandoned: isAbandoned });
  for (const line of describe(view, isAbandoned, options)) print(plain(line));
}

/** In the order in which somebody on call asks: is anything lost, why did it stop, what do I do. */
function* describe(view: SessionView, abandoned: boolean, { stateDir }: GlobalOptions): Generator<string> {
  const { id, key, team, status, reason, brief, phases, steps, updatedAt, error } = view;
  const brieflyStated = brief.length > 200 ? `${brief.slice(0, 200)}…` : brief;
  yield `Session ${id}${key === null ? "" : ` (key ${key})`}: ${status}${reason === null ? "" : ` (${reason})`}, changed ${ago(Date.parse(updatedAt))}`;
  yield `Team ${team}: ${brieflyStated}`;
  if (abandoned) yield "Its process died. Nothing recorded is lost.";
  yield `${steps} steps and waits are recorded.`;
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
  if (view.ticket !== null)
    yield `Ticket: ${view.ticket.url ?? view.ticket.fingerprint} (${view.ticket.status})`;
  const canGoOn = abandoned || !["completed", "canceled", "running"].includes(status);
  if (canGoOn) yield `Go on with: ${resumeCommand(key ?? id, stateDir)}`;
}
