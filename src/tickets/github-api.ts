import { ConfigInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json } from "../domain/json.ts";
import type { TicketReference } from "../domain/ticket.ts";
import type { Reach } from "../network/guarded-request.ts";
import { TicketUnclear } from "./ticket-sink.ts";
import { callTracker, type TrackerAnswer } from "./tracker-http.ts";
import { trackerBase } from "./tracker-url.ts";

export interface GithubOptions {
  /** "owner/name" */
  readonly repository: string;
  readonly token: string;
  /** For GitHub Enterprise: "https://host/api/v3". */
  readonly apiUrl?: string;
  /** Allows a host name that resolves to a non-public address. */
  readonly allowInternal?: boolean;
  readonly timeoutMs?: number;
  /** Resolves a host name to all its addresses. */
  readonly resolve?: Reach["resolve"];
}

const defaultTimeoutMs = 20_000;

/** GitHub's API for one repository. */
export class GithubApi {
  readonly #base: string;
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
    this.#base = `${base}/repos/${repository}`;
    this.#repository = repository;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
    this.#reach = {
      allowInternal: options.allowInternal === true,
      trustWritten: true,
      resolve: options.resolve,
    };
  }

  /** `path`: relative to the repository, with its query. */
  call(method: "GET" | "POST", path: string, signal: AbortSignal, body?: string): Promise<TrackerAnswer> {
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
      url: this.#base + path,
      headers,
      ...content,
      signal,
      timeoutMs: this.#timeoutMs,
      reach: this.#reach,
      allowedBy: "github.allowInternal (MAESTRO_GITHUB_ALLOW_INTERNAL)",
    });
  }

  /** The reference of an issue or a pull request. */
  reference(item: Json | undefined, request: string): TicketReference {
    const { number, html_url: url } = isJsonObject(item) ? item : {};
    if (typeof number !== "number" || typeof url !== "string" || !/^https?:\/\/\S+$/.test(url))
      throw this.unreadable(request);
    return { key: `${this.#repository}#${number}`, url };
  }

  unreadable(request: string): TicketUnclear {
    return new TicketUnclear(`GitHub's answer to ${request} cannot be read.`, {
      fault: "request",
      advice: "Check the address of the GitHub API.",
    });
  }
}
