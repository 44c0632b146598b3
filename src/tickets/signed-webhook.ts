import { createHmac } from "node:crypto";
import { type Clock, systemClock } from "../domain/clock.ts";
import { ConfigInvalid } from "../domain/errors.ts";
import { callTracker, type TrackerAnswer } from "./tracker-http.ts";
import { trackerUrl } from "./tracker-url.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Shared with the receiver, which uses it to verify the signature. */
  readonly secret: string;
  /** Allows non-public addresses, and http:// for them. */
  readonly allowInternal?: boolean;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /** Resolves a host name to all its addresses. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const defaultTimeoutMs = 20_000;
const leastSecretLength = 16;

/**
 * Posts to any receiver of JSON. Each POST has `maestro-signature: t=<unix seconds>,v1=<hex>`, the HMAC-SHA256 of
 * "<t>.<body>", and an `idempotency-key`. After an unclear POST the same key may come again, and the receiver drops
 * the second.
 */
export class SignedWebhook {
  readonly url: URL;
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.url = trackerUrl(options.url, "the webhook's address", () => options.allowInternal === true);
    this.#options = options;
    if (options.secret.length < leastSecretLength)
      throw new ConfigInvalid(`the webhook's secret is shorter than ${leastSecretLength} characters`, {
        advice: "Make one with: openssl rand -hex 32",
      });
  }

  async post(body: string, idempotencyKey: string, signal: AbortSignal): Promise<TrackerAnswer> {
    const { secret, timeoutMs = defaultTimeoutMs, clock = systemClock } = this.#options;
    const { allowInternal = false, resolve } = this.#options;
    const seconds = Math.floor(clock.now() / 1000);
    const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
    const headers = {
      "content-type": "application/json",
      "user-agent": "maestro-hive",
      "idempotency-key": idempotencyKey,
      "maestro-signature": `t=${seconds},v1=${signature}`,
    };
    return callTracker({
      tracker: "The webhook",
      method: "POST",
      url: this.url.href,
      headers,
      body,
      signal,
      timeoutMs,
      reach: { allowInternal, trustWritten: false, resolve },
      allowedBy: "webhook.allowInternal (MAESTRO_WEBHOOK_ALLOW_INTERNAL)",
    });
  }
}
