import { ConfigInvalid } from "../domain/errors.ts";
import { isJsonObject, type Json } from "../domain/json.ts";
import { isTicketFingerprint, labelsOf, type Ticket, type TicketReference } from "../domain/ticket.ts";
import type { Reach } from "../network/guarded-request.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { cut } from "./plain-text.ts";
import { renderAdf } from "./render.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";
import { callTracker, type TrackerAnswer } from "./tracker-http.ts";
import { trackerBase } from "./tracker-url.ts";

export interface JiraOptions {
  /** "https://company.atlassian.net" */
  readonly baseUrl: string;
  readonly email: string;
  readonly apiToken: string;
  readonly projectKey: string;
  /** Allows a host name that resolves to a non-public address. */
  readonly allowInternal?: boolean;
  readonly timeoutMs?: number;
  /** Resolves a host name to all its addresses. */
  readonly resolve?: Reach["resolve"];
}

const defaultTimeoutMs = 20_000;

/**
 * Jira Cloud, REST API version 3. Its search index lags its writes, so a search right after a lost POST can miss
 * the issue. Delivery is therefore at least once, and a wait before the search makes a second issue unlikely.
 */
export class JiraSink implements TicketSink {
  readonly name: string;
  readonly #base: string;
  readonly #project: string;
  readonly #secrets: readonly string[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #reach: Reach;

  constructor(options: JiraOptions) {
    const { baseUrl, email, apiToken, projectKey, timeoutMs = defaultTimeoutMs } = options;
    this.#base = trackerBase(baseUrl, "the Jira address");
    if (!/^[A-Z][A-Z0-9_]{1,49}$/.test(projectKey))
      throw new ConfigInvalid("the Jira project key is not one", {
        advice: 'A key has capital letters and digits, such as "OPS": it is what issue keys begin with.',
      });
    if (email === "" || email.includes(":") || apiToken === "")
      throw new ConfigInvalid("Jira needs an e-mail address and an API token", {
        advice: "Make a token at https://id.atlassian.com/manage-profile/security/api-tokens.",
      });
    const credentials = Buffer.from(`${email}:${apiToken}`).toString("base64");
    this.name = `jira:${projectKey}`;
    this.#project = projectKey;
    this.#secrets = [apiToken, credentials];
    this.#headers = { authorization: `Basic ${credentials}`, accept: "application/json" };
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
    // With the project in the query, an account without access gets an error instead of an empty list.
    const jql = `project = "${this.#project}" AND labels = "${fingerprint}" ORDER BY created DESC`;
    const answer = await this.#call(
      "/rest/api/3/search/jql",
      { jql, maxResults: 1, fields: ["labels"] },
      signal,
    );
    // With an expired token Jira searches anonymously, finds nothing and still answers with success.
    if (/AUTHENTICATED_FAILED|AUTHENTICATION_DENIED/.test(answer.headers.get("x-seraph-loginreason") ?? ""))
      throw new TicketRefused("Jira did not accept the credentials.", {
        fault: "request",
        status: 401,
        advice: "Check JIRA_EMAIL and JIRA_API_TOKEN; tokens expire.",
      });
    const issues = isJsonObject(answer.json) ? answer.json.issues : undefined;
    if (!Array.isArray(issues)) throw this.#unreadable("search");
    return issues.length === 0 ? undefined : this.#reference(issues[0], "search");
  }

  async post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference> {
    const safe = hideSecrets(ticket, this.#secrets);
    const fields = {
      project: { key: this.#project },
      issuetype: { name: "Bug" },
      summary: cut(safe.summary.replace(/\s+/g, " "), 255),
      description: renderAdf(safe),
      labels: labelsOf(safe),
    };
    const answer = await this.#call("/rest/api/3/issue", { fields }, signal);
    return this.#reference(answer.json, "create");
  }

  #call(path: string, body: object, signal: AbortSignal): Promise<TrackerAnswer> {
    return callTracker({
      tracker: "Jira",
      method: "POST",
      url: this.#base + path,
      headers: { ...this.#headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
      timeoutMs: this.#timeoutMs,
      reach: this.#reach,
      allowedBy: "jira.allowInternal (MAESTRO_JIRA_ALLOW_INTERNAL)",
    });
  }

  #reference(issue: Json | undefined, request: string): TicketReference {
    const key = isJsonObject(issue) ? issue.key : undefined;
    if (typeof key !== "string" || !/^[A-Z][A-Z0-9_]+-\d+$/.test(key)) throw this.#unreadable(request);
    return { key, url: `${this.#base}/browse/${key}` };
  }

  #unreadable(request: string): TicketUnclear {
    return new TicketUnclear(`Jira's answer to ${request} cannot be read.`, {
      fault: "request",
      advice: "Check that the Jira address is the one of the site itself.",
    });
  }
}
