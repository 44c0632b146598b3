import type { Looking } from "../../look.ts";
import { exitCodeOf, exitCodes } from "../exit-code.ts";
import { LiveView } from "../live/live-view.ts";
import { answersFor } from "../on-call.ts";
import { type GlobalOptions, withLook } from "../open.ts";
import { commandLine, nameOf, print, printJson, say, sayWrapped } from "../output.ts";
import { progressLine } from "../progress.ts";
import { readCount } from "../read-flags.ts";
import { screenOf } from "../terminal/screen.ts";
import { plain } from "../terminal/words.ts";

const lookForDeathMs = 1_000;

/** What happened and what happens, until the session comes to an end. Ctrl-C ends the looking, not the session. */
export async function watch(
  idOrKey: string,
  options: GlobalOptions & { readonly after?: string },
): Promise<void> {
  const after = readCount("--after", options.after ?? "0");
  await withLook(options, async (maestro) => {
    const { id } = await maestro.find(idOrKey);
    const stop = new AbortController();
    const interrupted = (): void => stop.abort("interrupted");
    process.once("SIGINT", interrupted);
    process.once("SIGTERM", interrupted);
    // Nobody reads any more.
    for (const stream of [process.stdout, process.stderr]) stream.once("error", interrupted);
    const timer = setInterval(() => void lookForDeath(maestro, id, stop), lookForDeathMs);
    const view = !options.json && screenOf(process.stderr).live ? new LiveView().open() : undefined;
    try {
      if (view !== undefined) {
        view.session.hint = "Ctrl-C stops looking";
        await view.follow(maestro, id);
      }
      const seen = view?.session.seq ?? after;
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

/** A driver that died writes nothing more: whoever watches would wait for ever. */
async function lookForDeath(maestro: Looking, id: string, stop: AbortController): Promise<void> {
  const abandoned = await maestro.abandoned().catch(() => new Set<string>());
  if (abandoned.has(id as never)) stop.abort("died");
}

async function conclude(
  maestro: Looking,
  id: string,
  { json, stateDir }: GlobalOptions,
  stopped: string | undefined,
): Promise<void> {
  const view = await maestro.show(id);
  const { status, reason, error, usage, ticket } = view;
  const abandoned = stopped === "died";
  if (json) printJson({ kind: "result", id, status, reason, error, usage, ticket, abandoned });
  else if (stopped === "interrupted")
    say(`It goes on without you. Look again with: ${commandLine("watch", nameOf(view), stateDir)}`);
  else {
    print(`Session ${id} is ${reason === null ? status : `${status} (${reason})`}.`);
    for (const line of answersFor(view, { stateDir, abandoned, now: Date.now() })) sayWrapped(plain(line));
  }
  if (stopped === "interrupted") process.exitCode = exitCodes.interrupted;
  else process.exitCode = abandoned ? exitCodes.parked : exitCodeOf(status);
}
