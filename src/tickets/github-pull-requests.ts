import { isJsonObject, type Json } from "../domain/json.ts";
import type { PullRequest, Ticket, TicketReference } from "../domain/ticket.ts";
import { GithubApi, type GithubOptions } from "./github-api.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { oneLine } from "./plain-text.ts";
import { TicketRefused, type TicketSink } from "./ticket-sink.ts";

/**
 * Pull requests of one branch. After an unclear POST the branch identifies the request, so it is searched for
 * before every POST.
 */
export class PullRequestSink implements TicketSink {
  readonly name: string;
  readonly #api: GithubApi;
  readonly #wanted: PullRequest;
  readonly #token: string;

  constructor(options: Omit<GithubOptions, "repository">, wanted: PullRequest) {
    this.#api = new GithubApi({ ...options, repository: wanted.repository });
    this.#wanted = wanted;
    this.#token = options.token;
    this.name = `github:${wanted.repository}`;
  }

  async find(_fingerprint: string, signal: AbortSignal): Promise<TicketReference | undefined> {
    const { repository, head, commit } = this.#wanted;
    const [owner = ""] = repository.split("/");
    const query = `?head=${encodeURIComponent(`${owner}:${head}`)}&state=all&sort=created&direction=desc&per_page=20`;
    const { json } = await this.#api.call("GET", `/pulls${query}`, signal);
    if (!Array.isArray(json)) throw this.#api.unreadable("search");
    // A closed one counts only if it has this very commit, because branch names are reused.
    const found = json.find((item) => isOfBranch(item, head, commit));
    return found === undefined ? undefined : this.#api.reference(found, "search");
  }

  async post(ticket: Ticket, signal: AbortSignal): Promise<TicketReference> {
    const { head, base } = this.#wanted;
    const safe = hideSecrets(ticket, [this.#token]);
    const request = {
      title: oneLine(safe.summary),
      body: safe.details,
      head,
      base: base ?? (await this.#defaultBranch(signal)),
    };
    try {
      const { json } = await this.#api.call("POST", "/pulls", signal, JSON.stringify(request));
      return this.#api.reference(json, "create");
    } catch (error) {
      // Another process was faster.
      const isThere =
        TicketRefused.is(error) && error.status === 422 && /already exists/i.test(error.message);
      const found = isThere ? await this.find(ticket.fingerprint, signal) : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  async #defaultBranch(signal: AbortSignal): Promise<string> {
    const { json } = await this.#api.call("GET", "", signal);
    const branch = isJsonObject(json) ? json["default_branch"] : undefined;
    if (typeof branch !== "string" || branch === "") throw this.#api.unreadable("repository");
    return branch;
  }
}

function isOfBranch(item: Json, branch: string, commit: string): boolean {
  if (!isJsonObject(item) || !isJsonObject(item["head"])) return false;
  const { ref, sha } = item["head"];
  return ref === branch && (item["state"] === "open" || sha === commit);
}
