import { join } from "node:path";
import { resolveStateDirectory } from "../api/open-readonly.ts";
import type { Config } from "../config/config.ts";
import { advise } from "../domain/advice.ts";
import { StateUnavailable } from "../domain/errors.ts";
import { readToken, tokenFile } from "./access/token.ts";
import { addressOf } from "./server-address.ts";

const patienceMs = 5_000;

export interface DashboardLink {
  readonly url: string;
  readonly expiresAt: string;
}

/** Requests a new link from the server of this state directory, as any client does. */
export async function askForLink({ server, stateDir }: Config): Promise<DashboardLink> {
  const address = addressOf(server);
  const { path } = await resolveStateDirectory({ explicit: stateDir, env: process.env });
  const token = server.apiToken ?? (await readToken(join(path, tokenFile)));
  if (token === undefined)
    throw new StateUnavailable(`No server has run for ${path} yet.`, {
      advice: [
        advise("Start it", "serve"),
        advise("If it runs for another state directory, name that with --state-dir."),
      ],
    });
  const response = await fetch(`http://${address}/v1/dashboard-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
    // The token is for this server only.
    redirect: "error",
    signal: AbortSignal.timeout(patienceMs),
  }).catch((error: unknown) => {
    throw new StateUnavailable(`No server answers on ${address}.`, {
      cause: error,
      advice: [
        advise("Start it", "serve"),
        advise("If it listens elsewhere, name its address with --port and --host."),
      ],
    });
  });
  if (response.status === 201) return (await response.json()) as DashboardLink;
  throw new StateUnavailable(`The server on ${address} refused to make a link (${response.status}).`, {
    advice: "It may belong to another state directory: name it with --state-dir, or the server with --port.",
  });
}
