import { type Advice, advise } from "../../domain/advice.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../domain/json.ts";
import type { Maestro, Settlement } from "../../index.ts";
import { resumeAdvice } from "../../journal/explain-stop.ts";
import { settleAdvice } from "../../journal/settle-advice.ts";
import { type GlobalOptions, requireState, withMaestro } from "../open.ts";
import { commandFor, print, printJson, say } from "../output.ts";

interface NoteOptions extends GlobalOptions {
  readonly note?: string;
  readonly phase?: string;
  readonly call?: string;
  /** Arguments as JSON. */
  readonly arguments?: string;
  readonly repeatEffects?: boolean;
}

interface SettleFlags extends GlobalOptions {
  /** True if given without a result. */
  readonly happened?: string | true;
  readonly didNotHappen?: boolean;
}

export function pause(idOrKey: string, options: GlobalOptions): Promise<void> {
  return tell(idOrKey, options, (maestro, id) => maestro.pause(id), "pauses at its next step");
}

export function cancel(idOrKey: string, options: GlobalOptions): Promise<void> {
  return tell(idOrKey, options, (maestro, id) => maestro.cancel(id), "is canceled");
}

export function approve(idOrKey: string, options: NoteOptions): Promise<void> {
  const { note, phase, call, arguments: args } = options;
  const decision = {
    ...(note !== undefined && { note }),
    ...(phase !== undefined && { phase }),
    ...(call !== undefined && { call: seqOf(call) }),
    ...(args !== undefined && { arguments: argumentsOf(args) }),
  };
  const what = call === undefined ? "is approved" : `has its call ${call} approved`;
  return tell(idOrKey, options, (maestro, id) => maestro.approve(id, decision), what, true);
}

export function answer(idOrKey: string, seq: string, text: string, options: GlobalOptions): Promise<void> {
  const question = seqOf(seq);
  const what = `has its question ${seq} answered`;
  return tell(idOrKey, options, (maestro, id) => maestro.answer(id, question, text), what, true);
}

function seqOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InputInvalid(`"${text}" is not the number of a call.`, {
    advice: advise("See what waits", "show", "<session>"),
  });
}

function argumentsOf(text: string): JsonObject {
  let args: Json;
  try {
    args = parseJson(text);
  } catch (cause) {
    throw new InputInvalid("The value of --arguments is not JSON.", {
      cause,
      advice: `Quote it for the shell: --arguments '{"command": "git push"}'`,
    });
  }
  if (isJsonObject(args)) return args;
  throw new InputInvalid("The value of --arguments is not an object.");
}

export function reject(idOrKey: string, options: NoteOptions): Promise<void> {
  const { note = "", phase, call, repeatEffects } = options;
  const decision = {
    note,
    ...(phase !== undefined && { phase }),
    ...(call !== undefined && { call: seqOf(call) }),
    ...(repeatEffects === true && { repeatEffects }),
  };
  const what =
    call === undefined
      ? "is rejected; the phase runs again with your note"
      : `has its call ${call} rejected; your note is its result`;
  return tell(idOrKey, options, (maestro, id) => maestro.reject(id, decision), what, true);
}

export async function settle(idOrKey: string, step: string, options: SettleFlags): Promise<void> {
  const settlement = settlementOf(options, idOrKey, step);
  const what = `has its effect settled as one that ${settlement.happened ? "happened" : "did not happen"}`;
  await tell(idOrKey, options, (maestro, id) => maestro.settle(id, step, settlement), what, true);
  if (options.happened === true) say("The result of the step is empty, because --happened has no JSON.");
}

function settlementOf(
  { happened, didNotHappen = false }: SettleFlags,
  idOrKey: string,
  step: string,
): Settlement {
  if ((happened === undefined) === !didNotHappen)
    throw new InputInvalid("settle needs either --happened or --did-not-happen.", {
      advice: settleAdvice(idOrKey, step),
    });
  if (happened === undefined) return { happened: false };
  if (happened === true) return { happened: true };
  try {
    return { happened: true, result: parseJson(happened) };
  } catch (cause) {
    throw new InputInvalid("The value of --happened is not JSON.", {
      cause,
      advice: `Quote it for the shell: --happened '{"id": 7}'`,
    });
  }
}

async function tell(
  idOrKey: string,
  options: GlobalOptions,
  act: (maestro: Maestro, id: string) => Promise<void>,
  what: string,
  goesOn = false,
): Promise<void> {
  await requireState(options, idOrKey);
  await withMaestro(options, async (maestro) => {
    const { id } = await maestro.find(idOrKey);
    await act(maestro, id);
    const { status, reason } = await maestro.find(id);
    // A call may be answered while the session runs, which continues at once; an effect of a canceled one is settled too.
    const isResumed = goesOn && status !== "running" && status !== "canceled";
    const next = isResumed ? await resumeOf(maestro, id) : undefined;
    const resume = next?.command == null ? undefined : commandFor(options.stateDir, ...next.command.slice(1));
    if (options.json)
      printJson({ id, status, reason: reason ?? null, ...(resume !== undefined && { resume }) });
    else {
      print(`Session ${id} ${what}.`);
      if (next !== undefined) say(resume === undefined ? next.text : `${next.text}: ${resume}`);
    }
  });
}

async function resumeOf(maestro: Maestro, id: string): Promise<Advice> {
  const { key, needsProgram, imported } = await maestro.show(id);
  return resumeAdvice({ id, key, needsProgram, imported });
}
