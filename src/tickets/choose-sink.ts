import type { CallOutcome } from "../domain/breaker.ts";
import type { PullRequest } from "../domain/ticket.ts";
import { FileSink } from "./file.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";

/** The settings of trackers. Each group is used whole or not at all. */
export interface TicketSettings {
  readonly jira: Group<"baseUrl" | "email" | "apiToken" | "projectKey">;
  readonly github: Group<"repository" | "token"> & { readonly apiUrl: string | undefined };
  readonly webhook: Group<"url" | "secret">;
}

type Group<Key extends string> = Readonly<Record<Key, string | undefined>> & Allowed;
type WholeGroup<Key extends string> = Readonly<Record<Key, string>> & Allowed;

/** This has a default, so its presence does not show that the tracker is configured. */
interface Allowed {
  readonly allowInternal: boolean;
}

/** The first configured sink: Jira, then GitHub, then the webhook, then a file. */
export async function chooseSink(
  { jira, github, webhook }: TicketSettings,
  stateDirectory: string,
  report: (notice: string) => void,
): Promise<TicketSink> {
  const ofJira = whole("jira", jira, report);
  if (ofJira !== undefined) return new (await import("./jira.ts")).JiraSink(ofJira);
  const { apiUrl, ...repository } = github;
  const ofGithub = whole<"repository" | "token">("github", repository, report);
  if (ofGithub !== undefined) {
    const { GithubSink } = await import("./github.ts");
    return new GithubSink({ ...ofGithub, ...(apiUrl !== undefined && { apiUrl }) });
  }
  const ofWebhook = whole("webhook", webhook, report);
  if (ofWebhook !== undefined) return new (await import("./webhook.ts")).WebhookSink(ofWebhook);
  return new FileSink(stateDirectory);
}

/** Opens pull requests with the token of the configured GitHub. A process without the token leaves them to others. */
export function pullRequestSink({
  token,
  apiUrl,
  allowInternal,
}: Omit<TicketSettings["github"], "repository">): (wanted: PullRequest) => Promise<TicketSink> {
  return async (wanted) => {
    if (token === undefined)
      throw new TicketRefused("This process has no MAESTRO_GITHUB_TOKEN for pull requests.", {
        fault: "rate-limit",
        retryAfterMs: withoutTokenMs,
        advice: "Set MAESTRO_GITHUB_TOKEN. The outbox tries again with the next session that runs here.",
      });
    const { PullRequestSink } = await import("./github-pull-requests.ts");
    return new PullRequestSink({ token, allowInternal, ...(apiUrl !== undefined && { apiUrl }) }, wanted);
  };
}

/** Another process may have the token. */
const withoutTokenMs = 60_000;

/** Maps a tracker's failure to the state of its service. */
export function outcomeOfTicket(error: unknown): CallOutcome {
  if (!TicketRefused.is(error) && !TicketUnclear.is(error)) return { kind: "success" };
  if (error.fault === "rate-limit") return { kind: "rate-limit", retryAfterMs: error.retryAfterMs };
  return error.fault === "outage" ? { kind: "outage" } : { kind: "success" };
}

/** Other tools read the same variables, so an incomplete configuration is a warning, not an error. */
function whole<Key extends string>(
  section: string,
  group: Group<Key>,
  report: (notice: string) => void,
): WholeGroup<Key> | undefined {
  const missing = Object.entries(group).flatMap(([key, value]) => (value === undefined ? [key] : []));
  if (missing.length === 0) return group as WholeGroup<Key>;
  const isBegun = missing.length < Object.keys(group).length - 1;
  const names = missing.map((key) => `${section}.${key}`).join(", ");
  if (isBegun) report(`Tickets do not go to ${section}: it is only half configured (missing: ${names}).`);
  return undefined;
}
