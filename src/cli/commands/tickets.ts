import { type GlobalOptions, withMaestro } from "../open.ts";
import { print, printJson, say, table } from "../output.ts";

export async function tickets(options: GlobalOptions): Promise<void> {
  const found = await withMaestro(options, async (maestro) => {
    await maestro.deliverTickets();
    return maestro.tickets();
  });
  if (options.json) return printJson(found);
  if (found.length === 0) return say("Nobody has asked for help.");
  print(
    table(
      ["ticket", "delivery", "about"],
      found.map(({ fingerprint, key, status, summary }) => [key ?? fingerprint, status, summary]),
    ),
  );
}
