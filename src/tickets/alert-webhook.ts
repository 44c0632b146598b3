import { fingerprint } from "../domain/canonical.ts";
import { SignedWebhook, type WebhookOptions } from "./signed-webhook.ts";

export interface AlertNews {
  readonly session: string;
  readonly text: string;
  readonly alert: { readonly kind: string; readonly level: string; readonly name: string } & Readonly<
    Record<string, string | number | null>
  >;
}

/** Long enough for a slow receiver, short enough that a command does not seem to hang. */
const timeoutMs = 10_000;

/**
 * Posts budget warnings to the webhook, one POST each, without retry: the journal has the warning, and a late one
 * is useless.
 */
export class AlertWebhook {
  readonly #webhook: SignedWebhook;

  constructor(options: WebhookOptions) {
    this.#webhook = new SignedWebhook({ timeoutMs, ...options });
  }

  async post(news: AlertNews, signal: AbortSignal): Promise<void> {
    const { kind, level, name, unit, limit } = news.alert;
    const key = fingerprint([level === "day" ? "" : news.session, kind, level, name, unit ?? "", limit ?? 0]);
    await this.#webhook.post(JSON.stringify({ type: "budget.alerted", ...news }), key, signal);
  }
}
