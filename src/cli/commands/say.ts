import type { Maestro } from "../../index.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { print, printJson } from "../output.ts";

export function pause(idOrKey: string, options: GlobalOptions): Promise<void> {
  return tell(idOrKey, options, (maestro, id) => maestro.pause(id), "pauses at its next step");
}

export function cancel(idOrKey: string, options: GlobalOptions): Promise<void> {
  return tell(idOrKey, options, (maestro, id) => maestro.cancel(id), "is canceled");
}

async function tell(
  idOrKey: string,
  options: GlobalOptions,
  act: (maestro: Maestro, id: string) => Promise<void>,
  what: string,
): Promise<void> {
  await withMaestro(options, async (maestro) => {
    const { id } = await maestro.find(idOrKey);
    await act(maestro, id);
    const { status } = await maestro.find(id);
    if (options.json) printJson({ id, status });
    else print(`Session ${id} ${what}.`);
  });
}
