import type { CallOutcome } from "../domain/breaker.ts";
import { ConfigInvalid } from "../domain/errors.ts";
import { TicketRefused, type TicketSink, TicketUnclear } from "./ticket-sink.ts";

/** The settings tickets care about; each group is used whole or not at all. */
export interface TicketSettings {
  readonly jira: Readonly<Record<"baseUrl" | "email" | "apiToken" | "projectKey", string | undefined>>;
  readonly github: Readonly<Record<"repository" | "token", string | undefined>>;
  readonly webhook: Readonly<Record<"url" | "secret", string | undefined>> & {
    readonly allowInternal: boolean;
  };
}

/** Jira, then GitHub, then the webhook, then a file: the first that is configured. */
export async function chooseSink(
  { jira, github, webhook }: TicketSettings,
  stateDirectory: string,
): Promise<TicketSink> {
  const jiraSettings = whole("jira", jira);
  if (jiraSettings !== undefined) return new (await import("./jira.ts")).JiraSink(jiraSettings);
  const githubSettings = whole("github", github);
  if (githubSettings !== undefined) return new (await import("./github.ts")).GithubSink(githubSettings);
  const { url, secret, allowInternal } = webhook;
  const webhookSettings = whole("webhook", { url, secret });
  if (webhookSettings !== undefined) {
    return new (await import("./webhook.ts")).WebhookSink({ ...webhookSettings, allowInternal });
  }
  return new (await import("./file.ts")).FileSink(stateDirectory);
}

/** What a tracker's failure says about the tracker. */
export function outcomeOfTicket(error: unknown): CallOutcome {
  if (!TicketRefused.is(error) && !TicketUnclear.is(error)) return { kind: "success" };
  if (error.fault === "rate-limit") return { kind: "rate-limit", retryAfterMs: error.retryAfterMs };
  return error.fault === "outage" ? { kind: "outage" } : { kind: "success" };
}

/** Half a configuration would silently send tickets elsewhere. */
function whole<Key extends string>(
  section: string,
  settings: Readonly<Record<Key, string | undefined>>,
): Readonly<Record<Key, string>> | undefined {
  const entries = Object.entries(settings) as [Key, string | undefined][];
  const missing = entries.filter(([, value]) => value === undefined).map(([key]) => `${section}.${key}`);
  if (missing.length === entries.length) return undefined;
  if (missing.length === 0) return settings as Readonly<Record<Key, string>>;
  throw new ConfigInvalid(
    `Tickets to ${section} are only half configured: ${missing.join(", ")} is missing.`,
    {
      advice: "Set it, or remove the rest: then tickets become files in the state directory.",
    },
  );
}
