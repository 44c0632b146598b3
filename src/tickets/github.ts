import { isJsonObject } from "../domain/json.ts";
import { isTicketFingerprint, labelsOf, type Ticket, type TicketReference } from "../domain/ticket.ts";
import { GithubApi, type GithubOptions } from "./github-api.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { renderMarkdown } from "./render.ts";
import { TicketRefused, type TicketSink } from "./ticket-sink.ts";

export type { GithubOptions } from "./github-api.ts";

/**
 * GitHub issues. The token must have write access to the repository: without it GitHub drops the labels, and an
 * issue without its label cannot be found after an unclear POST.
 */
export class GithubSink implements TicketSink {
  readonly name: string;
  readonly #api: GithubApi;
  readonly #token: string;

  constructor(options: GithubOptions) {
    this.#api = new GithubApi(options);
    this.name = `github:${options.repository}`;
    this.#token = options.token;
  }

  async find(fingerprint: string, signal: AbortSignal): Promise<TicketReference | undefined> {
    if (!isTicketFingerprint(fingerprint))
      throw new TicketRefused("The ticket has no fingerprint to search for.", { fault: "request" });
    const query = `?labels=${fingerprint}&state=all&sort=created&direction=desc&per_page=20`;
    const { json } = await this.#api.call("GET", `/issues${query}`, signal);
    if (!Array.isArray(json)) throw this.#api.unreadable("search");
    // GitHub lists every pull request as an issue too.
    const issue = json.find((item) => isJsonObject(item) && item.pull_request === undefined);
    return issue === undefined ? undefined : this.#api.reference(issue, "search");
  }

  async post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference> {
    const safe = hideSecrets(ticket, [this.#token]);
    const labels = labelsOf(safe);
    const issue = { title: safe.summary.replace(/\s+/g, " "), body: renderMarkdown(safe), labels };
    const { json } = await this.#api.call("POST", "/issues", signal, JSON.stringify(issue));
    return this.#api.reference(json, "create");
  }
}
