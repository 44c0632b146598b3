import { deliveryPolicy } from "../../../src/domain/ticket-delivery.ts";
import type { OpenOptions } from "../../../src/index.ts";
import { githubAccount, LoopbackGithub } from "../../support/loopback-github.ts";
import { createPath, LoopbackJira } from "../../support/loopback-jira.ts";
import { readFields } from "../../support/loopback-jira-fields.ts";
import type { Exchange, LoopbackServer } from "../../support/loopback-server.ts";
import { LoopbackWebhook } from "../../support/loopback-webhook.ts";

/** The tracker settings of a process. */
export type TrackerSettings = Pick<OpenOptions, "jira" | "github" | "webhook">;

/** A tracker as a test of delivery sees it. */
export interface Tracker {
  readonly server: LoopbackServer;
  readonly settings: TrackerSettings;
  /** How many tickets it has, duplicates included. */
  readonly size: number;
  isCreate(exchange: Exchange): boolean;
  /** The label of the ticket in a request to create it. */
  labelsIn(exchange: Exchange): readonly string[];
  /** The tracker's names of its tickets with this label. */
  withLabel(label: string): readonly string[];
}

/** The search index lags as long as allowed. */
const searchLagMs = deliveryPolicy.settleMs - 1_000;

export class JiraTracker implements Tracker {
  readonly jira: LoopbackJira;

  constructor(now: () => number) {
    this.jira = new LoopbackJira(now);
    this.jira.switches.searchLagMs = searchLagMs;
  }

  get server() {
    return this.jira.server;
  }
  get settings() {
    return { jira: this.jira.options };
  }
  get size() {
    return this.jira.issues.length;
  }
  isCreate({ path }: Exchange) {
    return path === createPath;
  }
  labelsIn({ body }: Exchange) {
    return (readFields(body)?.["labels"] ?? []) as readonly string[];
  }
  withLabel(label: string) {
    return this.jira.withLabel(label).map(({ key }) => key);
  }
}

export class GithubTracker implements Tracker {
  readonly #github: LoopbackGithub;

  constructor(now: () => number) {
    this.#github = new LoopbackGithub(now);
    this.#github.listLagMs = searchLagMs;
  }

  get server() {
    return this.#github.server;
  }
  get settings() {
    return { github: this.#github.options };
  }
  get size() {
    return this.#github.issues.length;
  }
  isCreate({ method }: Exchange) {
    return method === "POST";
  }
  labelsIn({ body }: Exchange) {
    return (JSON.parse(body) as { readonly labels: readonly string[] }).labels;
  }
  withLabel(label: string) {
    return this.#github.issues
      .filter(({ labels }) => labels.some(({ name }) => name === label))
      .map(({ number }) => `${githubAccount.repository}#${number}`);
  }
}

/** Cannot be searched: the receiver drops duplicates by their idempotency key. */
export class WebhookTracker implements Tracker {
  readonly #webhook = new LoopbackWebhook();

  get server() {
    return this.#webhook.server;
  }
  get settings() {
    return { webhook: this.#webhook.options };
  }
  get size() {
    return this.#webhook.received.length;
  }
  isCreate() {
    return true;
  }
  labelsIn({ headers }: Exchange) {
    return [String(headers["idempotency-key"])];
  }
  withLabel(label: string) {
    return this.#webhook.received.filter(({ key }) => key === label).map(({ key }) => key);
  }
}
