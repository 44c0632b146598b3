import { isJsonObject } from "../domain/json.ts";
import type { Ticket, TicketReference } from "../domain/ticket.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { cut, oneLine } from "./plain-text.ts";
import { renderMarkdown } from "./render.ts";
import { SignedWebhook, type WebhookOptions } from "./signed-webhook.ts";
import type { TicketSink } from "./ticket-sink.ts";

export type { WebhookOptions } from "./signed-webhook.ts";

/** Tickets for any receiver of JSON; a ticket's fingerprint is its idempotency key. */
export class WebhookSink implements TicketSink {
  readonly name: string;
  readonly #webhook: SignedWebhook;
  readonly #secret: string;

  constructor(options: WebhookOptions) {
    this.#webhook = new SignedWebhook(options);
    this.#secret = options.secret;
    this.name = `webhook:${this.#webhook.url.host}`;
  }

  /** A webhook cannot be asked what it has: always undefined, see the idempotency key. */
  async find(): Promise<undefined> {
    return undefined;
  }

  async post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference> {
    const { url: address } = this.#webhook;
    // The whole address counts as a secret: many receivers know their senders by nothing else.
    const safe = hideSecrets(ticket, [this.#secret, address.href]);
    const body = JSON.stringify({ type: "ticket.raised", ticket: safe, markdown: renderMarkdown(safe) });
    const { json } = await this.#webhook.post(body, safe.fingerprint, signal);
    // A receiver may say where a person finds the ticket.
    const { key, url } = isJsonObject(json) ? json : {};
    return {
      key: typeof key === "string" && key.trim() !== "" ? cut(oneLine(key), 200) : safe.fingerprint,
      url: typeof url === "string" && /^https?:\/\/\S{1,2000}$/.test(url) ? url : address.origin,
    };
  }
}
