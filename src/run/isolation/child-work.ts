import { setImmediate as endOfTurn } from "node:timers/promises";
import { HelpNeeded } from "../../domain/errors.ts";
import { keepSecret, secretsIn } from "../../domain/redact.ts";
import type { PersonaFunction } from "../../personas/function.ts";
import { ownTool, ownToolsOf } from "../../personas/tools/offered-tools.ts";
import { offerOwnTool } from "../../personas/tools/own-tool.ts";
import type { ToolPorts } from "../../personas/tools/tool-table.ts";
import { loadTeam } from "../../team/load-team.ts";
import { checkResult } from "../persona-result.ts";
import { strayError } from "../stray-errors.ts";
import { ChildChannel } from "./child-channel.ts";
import { ChildContext, type ChildTools } from "./child-context.ts";
import { type ChildWork, type FunctionPlace, fromThrown, type ToChild } from "./protocol.ts";

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
      case "call":
        sendStrayErrors(message.place.persona, channel);
        return void call(message, channel);
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

async function call(
  { place, tool: name, arguments: args }: Extract<ToChild, { readonly kind: "call" }>,
  channel: ChildChannel,
): Promise<void> {
  try {
    const { own } = await personaAt(place);
    const tool = await offerOwnTool(place.persona, name, ownTool(place.persona, name, own));
    // The parent has the limits of the call, and ends this process.
    const { signal } = new AbortController();
    const done = await tool.run?.(args, { signal } as ToolPorts);
    const result = typeof done === "object" ? (done.value ?? done.output) : (done ?? null);
    channel.send({ kind: "returned", body: JSON.stringify({ result }) });
  } catch (error) {
    channel.send({ kind: "failed", error: channel.thrown(error) });
  }
}

async function perform(work: ChildWork, context: ChildContext): Promise<unknown> {
  const { run, ...tools } = await personaAt(work);
  if (run === undefined) throw changed(work.file, "no longer has that function");
  try {
    return await run(context.of(work, tools));
  } finally {
    await context.settle();
    // A rejection that nothing handles is reported at the end of the turn.
    await endOfTurn();
  }
}

interface LoadedPersona extends ChildTools {
  readonly run: PersonaFunction | undefined;
}

async function personaAt({ file, fingerprint, phase, persona }: FunctionPlace): Promise<LoadedPersona> {
  const { team } = await loadTeam(file).catch((cause: unknown) => {
    throw changed(file, "can no longer be loaded", cause);
  });
  const written = memberOf(team.phases, phase, persona);
  const defined = memberOf(team.definition.phases, phase, persona);
  if (team.fingerprint === fingerprint && written !== undefined && defined !== undefined) {
    const { tools: choice, contract } = defined;
    return { run: written.run, persona, choice, own: ownToolsOf(written.tools), contract };
  }
  throw changed(file, "has another definition than when the server loaded it");
}

interface Named {
  readonly name: string;
}

const memberOf = <P extends Named>(
  phases: readonly (Named & { readonly personas: readonly P[] })[],
  phase: string,
  persona: string,
): P | undefined => phases.find(({ name }) => name === phase)?.personas.find(({ name }) => name === persona);

const changed = (file: string, what: string, cause?: unknown): HelpNeeded =>
  new HelpNeeded(`The team file ${file} ${what}.`, {
    cause,
    advice: "Restore the file, or start the server again; then resume the session.",
  });
