import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { WebhookSink } from "../../../src/tickets/webhook.ts";
import { hookPath, LoopbackWebhook, webhookSecret } from "../../support/loopback-webhook.ts";
import { patience, sampleTicket } from "./sample-ticket.ts";
import { failureOf, testOutcomes } from "./wire-outcomes.ts";

let webhook: LoopbackWebhook;
let sink: WebhookSink;
beforeEach(async () => {
  webhook = await LoopbackWebhook.start();
  sink = new WebhookSink({ ...webhook.options, clock: new ManualClock() });
});
afterEach(() => webhook.server.close());

testOutcomes({
  sink: (timeoutMs = 5000) => new WebhookSink({ ...webhook.options, timeoutMs }),
  server: () => webhook.server,
  postPath: hookPath,
  created: () => webhook.received.length,
});

test("a receiver can check who sent it and when, and drop what comes twice", async () => {
  const ticket = sampleTicket();
  expect(await sink.find()).toBeUndefined();
  const reference = await sink.post(ticket, patience);
  await sink.post(ticket, patience);
  expect(webhook.received).toHaveLength(1);
  expect(webhook.received[0]).toMatchObject({
    key: ticket.fingerprint,
    body: { type: "ticket.raised", ticket: { id: ticket.id, sessionId: ticket.sessionId } },
  });
  expect(webhook.server.requests[0]?.headers["maestro-signature"]).toMatch(/^t=1767225600,v1=[0-9a-f]{64}$/);
  expect(reference).toEqual({ key: ticket.fingerprint, url: webhook.server.url });
});

test("a receiver can say where the ticket is", async () => {
  webhook.answer = { key: "PAGE-7", url: "https://pager.example/7" };
  expect(await sink.post(sampleTicket(), patience)).toEqual({
    key: "PAGE-7",
    url: "https://pager.example/7",
  });
  webhook.answer = { key: 7, url: "javascript:alert(1)" };
  expect(await sink.post(sampleTicket(), patience)).toMatchObject({ url: webhook.server.url });
});

test("a wrong secret is refused, and the secret and the address stay out of the body", async () => {
  const other = new WebhookSink({ ...webhook.options, secret: "some-other-secret-entirely" });
  expect(await failureOf(other.post(sampleTicket(), patience))).toMatchObject({
    status: 401,
    fault: "request",
  });
  const leak = `posted to ${webhook.options.url} with ${webhookSecret}`;
  await sink.post({ ...sampleTicket(), details: leak }, patience);
  const body = webhook.server.requests[1]?.body;
  expect(body).not.toContain(webhookSecret);
  expect(body).not.toContain(webhook.options.url);
});

test.each([
  { url: "http://hook.example/" },
  { url: "http://127.0.0.1/" },
  { url: "https://user:pass@hook.example/" },
  { url: "gopher://hook.example/" },
  { url: "hook" },
  { secret: "short" },
])("%o is refused", (wrong) => {
  const good = { url: "https://hook.example/x?team=1", secret: webhookSecret };
  expect(new WebhookSink(good).name).toBe("webhook:hook.example");
  expect(() => new WebhookSink({ ...good, ...wrong })).toThrow(ConfigInvalid);
});
