import { type GlobalOptions, withMaestro } from "../open.ts";
import { printJson, printTable, say } from "../output.ts";

export async function tickets(options: GlobalOptions): Promise<void> {
  const found = await withMaestro(options, async (maestro) => {
    await maestro.deliverTickets();
    return maestro.tickets();
  });
  if (options.json) return printJson(found);
  if (found.length === 0) return say("Nobody has asked for help.");
  printTable(
    [{ head: "ticket" }, { head: "delivery" }, { head: "about" }],
    found.map(({ fingerprint, key, url, status, summary }) => [url ?? key ?? fingerprint, status, summary]),
  );
}
