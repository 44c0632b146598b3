import { once } from "node:events";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { resolveStateDirectory } from "../api/open-readonly.ts";
import type { Config } from "../config/config.ts";
import { advise } from "../domain/advice.ts";
import { StateUnavailable } from "../domain/errors.ts";
import { readPem } from "./access/tls-files.ts";
import { readToken, tokenFile } from "./access/token.ts";
import { addressOf } from "./server-address.ts";

const patienceMs = 5_000;

export interface DashboardLink {
  readonly url: string;
  readonly expiresAt: string;
}

/** Requests a new link from the server of this state directory, like any other client. */
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
  const cert = server.tlsCert === undefined ? undefined : await readPem(server.tlsCert, "certificate");
  const { status, link } = await post(address, token, cert).catch((error: unknown) => {
    throw new StateUnavailable(`No server answers on ${address}.`, {
      cause: error,
      advice: [
        advise("Start it", "serve"),
        advise("If it listens elsewhere, name its address with --port and --host."),
        advise("If it speaks TLS, name its certificate with --tls-cert."),
      ],
    });
  });
  if (status === 201) return link;
  throw new StateUnavailable(`The server on ${address} refused to make a link (${status}).`, {
    advice: "It may belong to another state directory: name it with --state-dir, or the server with --port.",
  });
}

/**
 * Sends the token only to a server with this certificate. The certificate's name does not matter, because the
 * address is on this machine.
 */
async function post(
  address: string,
  token: string,
  cert: string | undefined,
): Promise<{ readonly status: number; readonly link: DashboardLink }> {
  const options = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": 2 },
    signal: AbortSignal.timeout(patienceMs),
    agent: false,
  };
  const pinned = { ca: cert, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  const asked =
    cert === undefined
      ? requestPlain(`http://${address}/v1/dashboard-links`, options)
      : requestTls(`https://${address}/v1/dashboard-links`, { ...options, ...pinned });
  asked.end("{}");
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, link: (await json(answer)) as DashboardLink };
}
