import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GithubSink } from "../../../src/tickets/github.ts";
import { JiraSink } from "../../../src/tickets/jira.ts";
import { TicketRefused } from "../../../src/tickets/ticket-sink.ts";
import { WebhookSink } from "../../../src/tickets/webhook.ts";
import { githubAccount, LoopbackGithub } from "../../support/loopback-github.ts";
import { jiraAccount, LoopbackJira } from "../../support/loopback-jira.ts";
import { hookPath, LoopbackWebhook, webhookSecret } from "../../support/loopback-webhook.ts";
import { patience, sampleTicket } from "./sample-ticket.ts";
import { failureOf } from "./wire-outcomes.ts";

interface Options {
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly allowInternal?: boolean;
}

const sinks = {
  Jira: (baseUrl: string, options: Options) => new JiraSink({ ...jiraAccount, ...options, baseUrl }),
  GitHub: (apiUrl: string, options: Options) => new GithubSink({ ...githubAccount, ...options, apiUrl }),
  "The webhook": (url: string, options: Options) =>
    new WebhookSink({ secret: webhookSecret, ...options, url }),
} as const;
type Tracker = keyof typeof sinks;
const trackers = Object.keys(sinks) as Tracker[];

const settingOf = {
  Jira: "jira.allowInternal (MAESTRO_JIRA_ALLOW_INTERNAL)",
  GitHub: "github.allowInternal (MAESTRO_GITHUB_ALLOW_INTERNAL)",
  "The webhook": "webhook.allowInternal (MAESTRO_WEBHOOK_ALLOW_INTERNAL)",
} as const;

describe.each(trackers)("%s behind a name of an internal address", (tracker) => {
  const behind =
    "127.0.0.1 10.0.0.7 169.254.169.254 0.0.0.0 100.64.0.9 ::1 ::ffff:127.0.0.1 fd00::1 fe80::1 64:ff9b::a00:1";

  test.each([...behind.split(" ").map((address) => [address]), ["93.184.216.34", "169.254.169.254"], []])(
    "is refused, and the error says what to set (%j)",
    async (...addresses) => {
      const asked: string[] = [];
      const resolve = async (host: string) => {
        asked.push(host);
        return addresses;
      };
      const sink = sinks[tracker]("https://tracker.example/", { resolve });
      const error = await failureOf(sink.post(sampleTicket(), patience));
      expect(error).toBeInstanceOf(TicketRefused);
      expect(error).toMatchObject({
        message: `${tracker}'s host tracker.example is not on the public internet.`,
        fault: "request",
        advice: `Set ${settingOf[tracker]} to true, if internal addresses are what you want.`,
      });
      expect(asked).toEqual(["tracker.example"]);
    },
  );

  test("is an outage if the name does not resolve", async () => {
    const resolve = () => Promise.reject(new Error("ENOTFOUND"));
    const sink = sinks[tracker]("https://tracker.example/", { resolve });
    const error = await failureOf(sink.post(sampleTicket(), patience));
    expect(error).toBeInstanceOf(TicketRefused);
    expect(error).toMatchObject({ fault: "outage" });
  });

  test("is given up in time if the name's server does not answer", async () => {
    const resolve = () => new Promise<never>(() => {});
    const sink = sinks[tracker]("https://tracker.example/", { resolve });
    const error = await failureOf(sink.post(sampleTicket(), AbortSignal.timeout(50)));
    expect(error).toBeInstanceOf(TicketRefused);
  });
});

describe("an address that is written in the configuration", () => {
  let jira: LoopbackJira;
  let github: LoopbackGithub;
  let webhook: LoopbackWebhook;
  beforeEach(async () => {
    [jira, github, webhook] = [
      await LoopbackJira.start(),
      await LoopbackGithub.start(),
      await LoopbackWebhook.start(),
    ];
  });
  afterEach(() => Promise.all([jira, github, webhook].map(({ server }) => server.close())));

  test.each(["127.0.0.1", "localhost", "localhost.", "2130706433", "0177.1", "0x7f.1"])(
    "http://%s is where Jira and GitHub are",
    async (host) => {
      const resolve = async () => ["127.0.0.1"];
      const ofJira = sinks.Jira(`http://${host}:${jira.server.port}`, { resolve });
      expect(await ofJira.post(sampleTicket(), patience)).toMatchObject({ key: "OPS-1" });
      const ofGithub = sinks.GitHub(`http://${host}:${github.server.port}`, { resolve });
      expect(await ofGithub.post(sampleTicket(), patience)).toMatchObject({ key: "acme/night-shift#1" });
    },
  );

  const written =
    "127.0.0.1 2130706433 0177.1 0x7f.1 127.1 0 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] localhost " +
    "localhost. 169.254.169.254 [fe80::1] [fd00::1]";
  test.each(written.split(" "))(
    "https://%s is not where a webhook is, unless it is allowed",
    async (host) => {
      const sink = sinks["The webhook"](`https://${host}:${webhook.server.port}${hookPath}`, {});
      const error = await failureOf(sink.post(sampleTicket(), patience));
      expect(error).toBeInstanceOf(TicketRefused);
      expect((error as Error).message).toMatch(/^The webhook's host \S+ is not on the public internet\.$/);
      expect(webhook.server.requests).toEqual([]);
    },
  );

  test("a name is resolved once, and what it resolved to is what is connected to", async () => {
    const asked: string[] = [];
    // The owner of the name could answer differently the second time.
    const resolve = async (host: string) => (asked.push(host) === 1 ? ["127.0.0.1"] : ["10.0.0.7"]);
    const url = `http://hook.example:${webhook.server.port}${hookPath}`;
    await sinks["The webhook"](url, { resolve, allowInternal: true }).post(sampleTicket(), patience);
    expect(webhook.received).toHaveLength(1);
    expect(webhook.server.requests[0]?.headers.host).toBe(`hook.example:${webhook.server.port}`);
    expect(asked).toEqual(["hook.example"]);
  });

  test.each(trackers)("%s gets no ticket through a host with an invalid certificate", async (tracker) => {
    const resolve = async () => ["127.0.0.1"];
    const url = `https://tracker.example:${webhook.server.port}`;
    const error = await failureOf(
      sinks[tracker](url, { resolve, allowInternal: true }).post(sampleTicket(), patience),
    );
    expect(error).toBeInstanceOf(TicketRefused);
    expect(error).toMatchObject({ fault: "outage", message: `${tracker} could not be reached.` });
    expect(webhook.server.requests).toEqual([]);
  });
});

describe("an encrypted connection", () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-reach-"));
  const usual = getCACertificates("default");
  let server: Server;
  const seen: { host: string | undefined; name: string | false | null }[] = [];
  beforeAll(async () => {
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const name = ["-subj", "/CN=hook.example", "-addext", "subjectAltName=DNS:hook.example"];
    const files = ["-nodes", "-keyout", key, "-out", certificate, "-days", "2"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync("openssl", ["req", "-x509", ...kind, ...files, ...name], { stdio: "ignore" });
    const cert = readFileSync(certificate, "utf8");
    setDefaultCACertificates([cert]);
    server = createServer({ key: readFileSync(key), cert }, ({ headers, socket }, response) => {
      seen.push({ host: headers.host, name: (socket as TLSSocket).servername });
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    setDefaultCACertificates(usual);
    rmSync(folder, { recursive: true });
    server.close();
  });

  test("is made with the name, to the address that was checked", async () => {
    const { port } = server.address() as AddressInfo;
    const options = { resolve: async () => ["127.0.0.1"], allowInternal: true };
    await sinks["The webhook"](`https://hook.example:${port}/`, options).post(sampleTicket(), patience);
    expect(seen).toEqual([{ host: `hook.example:${port}`, name: "hook.example" }]);
    const other = sinks["The webhook"](`https://other.example:${port}/`, options);
    const error = await failureOf(other.post(sampleTicket(), patience));
    expect(error).toBeInstanceOf(TicketRefused);
    expect(seen).toHaveLength(1);
  });
});
