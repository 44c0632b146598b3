import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { TicketRefused } from "../../../src/tickets/ticket-sink.ts";
import { isInternal } from "../../../src/tickets/tracker-url.ts";
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

describe("internal addresses are refused before anything is sent", () => {
  const port = () => webhook.server.port;
  const guarded = (url: string, addresses?: readonly string[]) =>
    new WebhookSink({ url, secret: webhookSecret, ...(addresses && { resolve: async () => addresses }) });

  test.each(["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "localhost."])(
    "https://%s",
    async (host) => {
      const error = await failureOf(guarded(`https://${host}:${port()}/`).post(sampleTicket(), patience));
      expect(error).toBeInstanceOf(TicketRefused);
      expect((error as Error).message).toContain("is not on the public internet");
      expect(webhook.server.requests).toEqual([]);
    },
  );

  test.each([[["10.0.0.7"]], [["93.184.216.34", "169.254.169.254"]], [["fd00::1"]], [[]]])(
    "a name that resolves to %j",
    async (addresses) => {
      const error = await failureOf(
        guarded("https://hook.example/", addresses).post(sampleTicket(), patience),
      );
      expect((error as Error).message).toContain("hook.example is not on the public internet");
    },
  );

  test("a name that does not resolve is an outage", async () => {
    const resolve = () => Promise.reject(new Error("ENOTFOUND"));
    const lost = new WebhookSink({ url: "https://hook.example/", secret: webhookSecret, resolve });
    expect(await failureOf(lost.post(sampleTicket(), patience))).toMatchObject({ fault: "outage" });
  });

  const internal =
    "0.0.0.0 10.1.2.3 100.64.0.1 127.8.8.8 169.254.169.254 172.31.0.1 192.168.1.1 224.0.0.1 255.255.255.255 :: ::1 " +
    "::ffff:10.0.0.1 64:ff9b::a00:1 fe80::1 fc00::1 ff02::1 2002:a00:1:: 2001:db8::1 no-address";
  test.each(internal.split(" "))("%s is internal", (address) => {
    expect(isInternal(address)).toBe(true);
  });

  test.each(["8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "%s is public",
    (address) => {
      expect(isInternal(address)).toBe(false);
    },
  );
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
