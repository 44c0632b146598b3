import type { ReadonlyMaestro } from "../../api/open-readonly.ts";
import { exitCodeOf, exitCodes } from "../exit-code.ts";
import { explanationLines } from "../explanation.ts";
import { LiveView } from "../live/live-view.ts";
import { type GlobalOptions, withReadonly } from "../open.ts";
import { nameOf, print, printJson, say, sayCommand, sayLines } from "../output.ts";
import { progressLine } from "../progress.ts";
import { readCount } from "../read-flags.ts";
import { screenOf } from "../terminal/screen.ts";

const lookForDeathMs = 1_000;

/** Prints past and new events until the session ends. Ctrl-C stops watching, not the session. */
export async function watch(
  idOrKey: string,
  options: GlobalOptions & { readonly after?: string },
): Promise<void> {
  const after = readCount("--after", options.after ?? "0");
  await withReadonly(options, async (maestro) => {
    const { id } = await maestro.find(idOrKey);
    const stop = new AbortController();
    const interrupted = (): void => stop.abort("interrupted");
    process.once("SIGINT", interrupted);
    process.once("SIGTERM", interrupted);
    // The reader has closed the pipe.
    for (const stream of [process.stdout, process.stderr]) stream.once("error", interrupted);
    const timer = setInterval(() => void lookForDeath(maestro, id, stop), lookForDeathMs);
    const view = !options.json && screenOf(process.stderr).live ? new LiveView().open() : undefined;
    try {
      if (view !== undefined) {
        view.hint("Ctrl-C stops watching");
        await view.follow(maestro, id);
      }
      const seen = view?.session.progress.seq ?? after;
      for await (const event of maestro.events(id, { after: seen, signal: stop.signal })) {
        if (options.json) printJson(event);
        else if (view !== undefined) view.apply(event);
        else {
          const line = progressLine(event);
          if (line !== undefined) say(line);
        }
      }
    } finally {
      clearInterval(timer);
      process.off("SIGINT", interrupted);
      process.off("SIGTERM", interrupted);
      await view?.close(maestro);
    }
    await conclude(maestro, id, options, stop.signal.aborted ? String(stop.signal.reason) : undefined);
  });
}

/** A driver that died writes no more events: watching would never end. */
async function lookForDeath(maestro: ReadonlyMaestro, id: string, stop: AbortController): Promise<void> {
  const abandoned = await maestro.abandoned().catch(() => new Set<string>());
  if (abandoned.has(id as never)) stop.abort("died");
}

async function conclude(
  maestro: ReadonlyMaestro,
  id: string,
  { json, stateDir }: GlobalOptions,
  stopped: string | undefined,
): Promise<void> {
  const view = await maestro.show(id);
  const { status, reason, error, usage, ticket } = view;
  const abandoned = stopped === "died";
  if (json) printJson({ kind: "result", id, status, reason, error, usage, ticket, abandoned });
  else if (stopped === "interrupted")
    sayCommand("The session keeps running. Watch it again with", stateDir, "watch", nameOf(view));
  else {
    print(`Session ${id} is ${reason === null ? status : `${status} (${reason})`}.`);
    sayLines(explanationLines(view, { stateDir, abandoned }));
  }
  if (stopped === "interrupted") process.exitCode = exitCodes.interrupted;
  else process.exitCode = abandoned ? exitCodes.parked : exitCodeOf(status);
}
