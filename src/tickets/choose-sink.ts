import type { CallOutcome } from "../domain/breaker.ts";
import { FileSink } from "./file.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";

/** The settings tickets care about; each group is used whole or not at all. */
export interface TicketSettings {
  readonly jira: Readonly<Record<"baseUrl" | "email" | "apiToken" | "projectKey", string | undefined>>;
  readonly github: Readonly<Record<"repository" | "token" | "apiUrl", string | undefined>>;
  readonly webhook: Readonly<Record<"url" | "secret", string | undefined>> & {
    readonly allowInternal: boolean;
  };
}

/** Jira, then GitHub, then the webhook, then a file: the first that is configured. */
export async function chooseSink(
  { jira, github, webhook }: TicketSettings,
  stateDirectory: string,
  report: (notice: string) => void,
): Promise<TicketSink> {
  const jiraSettings = whole("jira", jira, report);
  if (jiraSettings !== undefined) return new (await import("./jira.ts")).JiraSink(jiraSettings);
  const { apiUrl, ...repository } = github;
  const githubSettings = whole("github", repository, report);
  if (githubSettings !== undefined) {
    const { GithubSink } = await import("./github.ts");
    return new GithubSink({ ...githubSettings, ...(apiUrl !== undefined && { apiUrl }) });
  }
  const { url, secret, allowInternal } = webhook;
  const webhookSettings = whole("webhook", { url, secret }, report);
  if (webhookSettings !== undefined) {
    return new (await import("./webhook.ts")).WebhookSink({ ...webhookSettings, allowInternal });
  }
  return new FileSink(stateDirectory);
}

/** What a tracker's failure says about the tracker. */
export function outcomeOfTicket(error: unknown): CallOutcome {
  if (!TicketRefused.is(error) && !TicketUnclear.is(error)) return { kind: "success" };
  if (error.fault === "rate-limit") return { kind: "rate-limit", retryAfterMs: error.retryAfterMs };
  return error.fault === "outage" ? { kind: "outage" } : { kind: "success" };
}

/** Other tools read the same variables, so half a configuration is no error; but who meant ours should hear of it. */
function whole<Key extends string>(
  section: string,
  settings: Readonly<Record<Key, string | undefined>>,
  report: (notice: string) => void,
): Readonly<Record<Key, string>> | undefined {
  const entries = Object.entries(settings) as [Key, string | undefined][];
  const missing = entries.filter(([, value]) => value === undefined).map(([key]) => `${section}.${key}`);
  if (missing.length === 0) return settings as Readonly<Record<Key, string>>;
  if (missing.length < entries.length) {
    report(`Tickets do not go to ${section}: it is only half configured (missing: ${missing.join(", ")}).`);
  }
  return undefined;
}
