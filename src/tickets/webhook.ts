import { isJsonObject } from "../domain/json.ts";
import type { Ticket, TicketReference } from "../domain/ticket.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { cut, oneLine } from "./plain-text.ts";
import { renderMarkdown } from "./render.ts";
import { SignedWebhook, type WebhookOptions } from "./signed-webhook.ts";
import type { TicketSink } from "./ticket-sink.ts";

export type { WebhookOptions } from "./signed-webhook.ts";

/** Posts tickets to any receiver of JSON. A ticket's fingerprint is its idempotency key. */
export class WebhookSink implements TicketSink {
  readonly name: string;
  readonly #webhook: SignedWebhook;
  readonly #secret: string;

  constructor(options: WebhookOptions) {
    this.#webhook = new SignedWebhook(options);
    this.#secret = options.secret;
    this.name = `webhook:${this.#webhook.url.host}`;
  }

  /** A webhook cannot be searched, so this is always undefined. The idempotency key prevents duplicates. */
  async find(): Promise<undefined> {
    return undefined;
  }

  async post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference> {
    const { url: address } = this.#webhook;
    // The whole address counts as a secret, because many receivers identify their senders only by it.
    const safe = hideSecrets(ticket, [this.#secret, address.href]);
    const body = JSON.stringify({ type: "ticket.raised", ticket: safe, markdown: renderMarkdown(safe) });
    const { json } = await this.#webhook.post(body, safe.fingerprint, signal);
    // A receiver may answer with the ticket's location.
    const { key, url } = isJsonObject(json) ? json : {};
    return {
      key: typeof key === "string" && key.trim() !== "" ? cut(oneLine(key), 200) : safe.fingerprint,
      url: typeof url === "string" && /^https?:\/\/\S{1,2000}$/.test(url) ? url : address.origin,
    };
  }
}
