import type { Maestro } from "../../index.ts";
import { type GlobalOptions, requireState, withMaestro } from "../open.ts";
import { commandFor, nameOf, print, printJson, say } from "../output.ts";

interface NoteOptions extends GlobalOptions {
  readonly note?: string;
  readonly phase?: string;
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
  const { note = "", phase } = options;
  return tell(
    idOrKey,
    options,
    (maestro, id) => maestro.reject(id, { note, ...(phase !== undefined && { phase }) }),
    "is rejected; the phase runs again with your note",
    true,
  );
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
