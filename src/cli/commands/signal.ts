import { InputInvalid } from "../../domain/errors.ts";
import { parseJson } from "../../domain/json.ts";
import type { Maestro, Settlement } from "../../index.ts";
import { type GlobalOptions, requireState, withMaestro } from "../open.ts";
import { commandFor, nameOf, print, printJson, say } from "../output.ts";

interface NoteOptions extends GlobalOptions {
  readonly note?: string;
  readonly phase?: string;
  readonly repeatEffects?: boolean;
}

interface SettleFlags extends GlobalOptions {
  /** True without a result. */
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
  const { note, phase } = options;
  const decision = { ...(note !== undefined && { note }), ...(phase !== undefined && { phase }) };
  return tell(idOrKey, options, (maestro, id) => maestro.approve(id, decision), "is approved", true);
}

export function reject(idOrKey: string, options: NoteOptions): Promise<void> {
  const { note = "", phase, repeatEffects } = options;
  const decision = {
    note,
    ...(phase !== undefined && { phase }),
    ...(repeatEffects === true && { repeatEffects }),
  };
  return tell(
    idOrKey,
    options,
    (maestro, id) => maestro.reject(id, decision),
    "is rejected; the phase runs again with your note",
    true,
  );
}

export function settle(idOrKey: string, step: string, options: SettleFlags): Promise<void> {
  const settlement = settlementOf(options);
  const what = `has its effect settled as one that ${settlement.happened ? "happened" : "did not happen"}`;
  return tell(idOrKey, options, (maestro, id) => maestro.settle(id, step, settlement), what, true);
}

function settlementOf({ happened, didNotHappen = false }: SettleFlags): Settlement {
  if ((happened === undefined) === !didNotHappen)
    throw new InputInvalid("settle needs either --happened or --did-not-happen.");
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
    const session = await maestro.find(idOrKey);
    const { id } = session;
    await act(maestro, id);
    const { status, reason } = await maestro.find(id);
    const resume = commandFor(options.stateDir, "resume", nameOf(session));
    if (options.json) printJson({ id, status, reason: reason ?? null, ...(goesOn && { resume }) });
    else {
      print(`Session ${id} ${what}.`);
      if (goesOn) say(`Resume with: ${resume}`);
    }
  });
}
