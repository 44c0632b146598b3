import { ConfigInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json } from "../domain/json.ts";
import { isTicketFingerprint, labelsOf, type Ticket, type TicketReference } from "../domain/ticket.ts";
import type { Reach } from "./guarded-request.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { renderMarkdown } from "./render.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";
import { callTracker, type TrackerAnswer } from "./tracker-http.ts";
import { trackerBase } from "./tracker-url.ts";

export interface GithubOptions {
  /** "owner/name" */
  readonly repository: string;
  readonly token: string;
  /** For GitHub Enterprise: "https://host/api/v3". */
  readonly apiUrl?: string;
  /** Allows a host name that resolves to an address that is not public. */
  readonly allowInternal?: boolean;
  readonly timeoutMs?: number;
  /** All addresses of a host name. */
  readonly resolve?: Reach["resolve"];
}

const defaultTimeoutMs = 20_000;

/**
 * GitHub issues. The token must have write access to the repository: without it GitHub drops the labels, and an issue without
 * its label is not found again after an unclear POST.
 */
export class GithubSink implements TicketSink {
  readonly name: string;
  readonly #issues: string;
  readonly #repository: string;
  readonly #token: string;
  readonly #timeoutMs: number;
  readonly #reach: Reach;

  constructor(options: GithubOptions) {
    const { repository, token, apiUrl, timeoutMs = defaultTimeoutMs } = options;
    const base = trackerBase(apiUrl ?? "https://api.github.com", "the GitHub address");
    if (!/^[A-Za-z0-9][A-Za-z0-9-]*\/(?!\.{1,2}$)[\w.-]+$/.test(repository))
      throw new ConfigInvalid("the GitHub repository is not one", { advice: 'Give it as "owner/name".' });
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new ConfigInvalid("GitHub needs a token", {
        advice: "Make one that may write issues at https://github.com/settings/tokens.",
      });
    this.name = `github:${repository}`;
    this.#issues = `${base}/repos/${repository}/issues`;
    this.#repository = repository;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
    this.#reach = {
      allowInternal: options.allowInternal === true,
      trustWritten: true,
      resolve: options.resolve,
    };
  }

  async find(fingerprint: string, signal: AbortSignal): Promise<TicketReference | undefined> {
    if (!isTicketFingerprint(fingerprint))
      throw new TicketRefused("The ticket has no fingerprint to search for.", { fault: "request" });
    const query = `?labels=${fingerprint}&state=all&sort=created&direction=desc&per_page=20`;
    const { json } = await this.#call("GET", this.#issues + query, signal);
    if (!Array.isArray(json)) throw unreadable("search");
    // To GitHub every pull request is an issue too.
    const issue = json.find((item) => isJsonObject(item) && item.pull_request === undefined);
    return issue === undefined ? undefined : this.#reference(issue, "search");
  }

  async post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference> {
    const safe = hideSecrets(ticket, [this.#token]);
    const labels = labelsOf(safe);
    const issue = { title: safe.summary.replace(/\s+/g, " "), body: renderMarkdown(safe), labels };
    const { json } = await this.#call("POST", this.#issues, signal, JSON.stringify(issue));
    return this.#reference(json, "create");
  }

  #call(method: "GET" | "POST", url: string, signal: AbortSignal, body?: string): Promise<TrackerAnswer> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      accept: "application/vnd.github+json",
      "user-agent": "maestro-hive",
      "x-github-api-version": "2022-11-28",
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const content = body === undefined ? {} : { body };
    return callTracker({
      tracker: "GitHub",
      method,
      url,
      headers,
      ...content,
      signal,
      timeoutMs: this.#timeoutMs,
      reach: this.#reach,
      allowedBy: "github.allowInternal (MAESTRO_GITHUB_ALLOW_INTERNAL)",
    });
  }

  #reference(issue: Json | undefined, request: string): TicketReference {
    const { number, html_url: url } = isJsonObject(issue) ? issue : {};
    if (typeof number !== "number" || typeof url !== "string" || !/^https?:\/\/\S+$/.test(url))
      throw unreadable(request);
    return { key: `${this.#repository}#${number}`, url };
  }
}

const unreadable = (request: string): TicketUnclear =>
  new TicketUnclear(`GitHub's answer to ${request} cannot be read.`, {
    fault: "request",
    advice: "Check the address of the GitHub API.",
  });
