import { createHmac, timingSafeEqual } from "node:crypto";
import { type Answer, type Exchange, LoopbackServer } from "./loopback-server.ts";

export const webhookSecret = "a-shared-secret-of-some-length";
export const hookPath = "/hooks/maestro";

/** A receiver as documented: checks the signature and drops duplicates. */
export class LoopbackWebhook {
  readonly received: { readonly key: string; readonly body: unknown }[] = [];
  readonly server = new LoopbackServer((exchange) => this.#handle(exchange));
  answer: unknown = {};

  static async start(): Promise<LoopbackWebhook> {
    const webhook = new LoopbackWebhook();
    await webhook.server.listen();
    return webhook;
  }

  get options() {
    return { url: this.server.url + hookPath, secret: webhookSecret, allowInternal: true };
  }

  #handle({ headers, body }: Exchange): Answer {
    const [, seconds, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["maestro-signature"])) ?? [];
    const expected = createHmac("sha256", webhookSecret).update(`${seconds}.${body}`).digest("hex");
    if (signature === undefined || !timingSafeEqual(Buffer.from(signature), Buffer.from(expected)))
      return { status: 401, body: { message: "wrong signature" } };
    const key = String(headers["idempotency-key"]);
    if (!this.received.some((earlier) => earlier.key === key))
      this.received.push({ key, body: JSON.parse(body) });
    return { status: 200, body: this.answer };
  }
}
