import { type GlobalOptions, loadForReading, missingState, withMaestro } from "../open.ts";
import { printJson, printTable, say, sayWrapped } from "../output.ts";

export async function tickets(options: GlobalOptions): Promise<void> {
  const { found, damaged } = await deliverAndList(options);
  if (damaged.length > 0)
    say(`Damaged in the database, and not delivered: ${damaged.join(", ")}. Their sessions are intact.`);
  if (options.json) return printJson(found);
  if (found.length === 0) return say("No session has asked for help.");
  printTable(
    [{ head: "ticket" }, { head: "delivery" }, { head: "about" }],
    found.map(({ fingerprint, key, url, status, summary }) => [url ?? key ?? fingerprint, status, summary]),
  );
  for (const { fingerprint, lastError, notBefore } of found) {
    if (lastError === null) continue;
    const next = notBefore === null ? "" : ` Next try after ${notBefore}.`;
    sayWrapped(`${fingerprint} is not delivered: ${lastError}${next}`);
  }
}

async function deliverAndList(options: GlobalOptions) {
  const loaded = await loadForReading(options);
  if ((await missingState(options, loaded)) !== undefined) return { found: [], damaged: [] };
  return withMaestro(
    options,
    async (maestro) => {
      // With only part of the settings, tickets could go to the wrong place.
      if (loaded.leftOut === undefined) await maestro.deliverTickets();
      return { found: await maestro.tickets(), damaged: await maestro.damagedTickets() };
    },
    { loaded },
  );
}
