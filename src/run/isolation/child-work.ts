import { setImmediate as endOfTurn } from "node:timers/promises";
import { HelpNeeded } from "../../domain/errors.ts";
import { keepSecret, secretsIn } from "../../domain/redact.ts";
import type { PersonaFunction } from "../../personas/function.ts";
import { loadTeam } from "../../team/load-team.ts";
import { checkResult } from "../persona-result.ts";
import { strayError } from "../stray-errors.ts";
import { ChildChannel } from "./child-channel.ts";
import { ChildContext } from "./child-context.ts";
import { type ChildWork, type FunctionPlace, fromThrown } from "./protocol.ts";

/** Runs the one function that the parent names, and reports how it ended. The parent then ends this process. */
export function runWork(): void {
  keepSecret(secretsIn(process.env));
  const channel = new ChildChannel();
  const context = new ChildContext(channel);
  channel.listen((message) => {
    switch (message.kind) {
      case "begin":
        sendStrayErrors(message.work.persona, channel);
        return void begin(message.work, context, channel);
      case "run":
        return void context.run(message);
      case "probe":
        return void context.probe(message);
      case "price":
        return void context.price(message);
      case "abort":
        return context.abort(fromThrown(message.reason));
    }
  });
}

/** All code in this process is the persona's. */
function sendStrayErrors(persona: string, channel: ChildChannel): void {
  const send = (cause: unknown): void => {
    channel.send({ kind: "stray", error: channel.thrown(strayError(persona, cause)) });
  };
  process.on("unhandledRejection", send);
  process.on("uncaughtException", send);
}

async function begin(work: ChildWork, context: ChildContext, channel: ChildChannel): Promise<void> {
  try {
    const result = checkResult(work.persona, await perform(work, context));
    channel.send({ kind: "returned", body: JSON.stringify({ result }) });
  } catch (error) {
    channel.send({ kind: "failed", error: channel.thrown(error) });
  }
}

async function perform(work: ChildWork, context: ChildContext): Promise<unknown> {
  const run = await functionAt(work);
  try {
    return await run(context.of(work));
  } finally {
    await context.settle();
    // A rejection that nothing handles is reported at the end of the turn.
    await endOfTurn();
  }
}

async function functionAt({ file, fingerprint, phase, persona }: FunctionPlace): Promise<PersonaFunction> {
  const { team } = await loadTeam(file).catch((cause: unknown) => {
    throw changed(file, "can no longer be loaded", cause);
  });
  const run = team.phases
    .find(({ name }) => name === phase)
    ?.personas.find(({ name }) => name === persona)?.run;
  if (team.fingerprint === fingerprint && run !== undefined) return run;
  throw changed(file, "has another definition than when the server loaded it");
}

const changed = (file: string, what: string, cause?: unknown): HelpNeeded =>
  new HelpNeeded(`The team file ${file} ${what}.`, {
    cause,
    advice: "Restore the file, or start the server again; then resume the session.",
  });
