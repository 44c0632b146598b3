import { breakerPolicy } from "../domain/breaker.ts";
import type { UnpricedRule } from "../domain/budget.ts";
import { attemptPolicy, roundPolicy } from "../domain/retry-policy.ts";
import { commandLimits } from "../workspace/process-limits.ts";
import type { SandboxRule } from "../workspace/sandbox-kind.ts";
import type { SettingKey, SettingValue } from "./config.ts";
import {
  apiToken,
  delayMs,
  dollars,
  integer,
  type Kind,
  oneOf,
  origin,
  priceTable,
  sessionLimit,
  text,
  tokens,
  yesOrNo,
} from "./setting-kinds.ts";

/** One row of the table: everything there is to know about a setting. */
export interface Setting<Value> {
  readonly environment: string;
  readonly default: Value;
  readonly kind: Kind<NonNullable<Value>>;
  readonly secret: boolean;
  /** Why a folder sets it only if a person trusted that folder; null: any folder may. */
  readonly needsTrust: string | null;
  readonly description: string;
}

export const settings: { readonly [Key in SettingKey]: Setting<SettingValue<Key>> } = {
  stateDir: {
    environment: "MAESTRO_STATE_DIR",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "its sessions and their teams would run as yours",
    description:
      "Directory of all state; unset: /var/maestro/state, or the user's own if that is not writable.",
  },
  model: {
    environment: "MAESTRO_MODEL",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: null,
    description: "Model, as provider/model, instead of the team's own.",
  },
  "attempts.max": {
    environment: "MAESTRO_L1_MAX_ATTEMPTS",
    default: attemptPolicy.maxAttempts,
    kind: integer(1, 20),
    secret: false,
    needsTrust: null,
    description: "Attempts at a persona's work in one round.",
  },
  "attempts.baseDelayMs": {
    environment: "MAESTRO_L1_BASE_DELAY_MS",
    default: attemptPolicy.baseDelayMs,
    kind: delayMs,
    secret: false,
    needsTrust: null,
    description: "Wait after the first failed attempt; it doubles from there.",
  },
  "attempts.maxDelayMs": {
    environment: "MAESTRO_L1_MAX_DELAY_MS",
    default: attemptPolicy.maxDelayMs,
    kind: delayMs,
    secret: false,
    needsTrust: null,
    description: "Longest wait between attempts.",
  },
  "attempts.timeoutMs": {
    environment: "MAESTRO_L1_TIMEOUT_MS",
    default: 300_000,
    kind: integer(1_000, 86_400_000),
    secret: false,
    needsTrust: null,
    description: "How long an attempt may stand still before it is ended.",
  },
  "rounds.max": {
    environment: "MAESTRO_L2_MAX_ATTEMPTS",
    default: roundPolicy.maxAttempts,
    kind: integer(1, 10),
    secret: false,
    needsTrust: null,
    description: "Rounds of attempts before a person is asked.",
  },
  "rounds.baseDelayMs": {
    environment: "MAESTRO_L2_BASE_DELAY_MS",
    default: roundPolicy.baseDelayMs,
    kind: delayMs,
    secret: false,
    needsTrust: null,
    description: "Wait after the first failed round; it doubles from there.",
  },
  "rounds.maxDelayMs": {
    environment: "MAESTRO_L2_MAX_DELAY_MS",
    default: roundPolicy.maxDelayMs,
    kind: delayMs,
    secret: false,
    needsTrust: null,
    description: "Longest wait between rounds.",
  },
  "breaker.threshold": {
    environment: "MAESTRO_BREAKER_THRESHOLD",
    default: breakerPolicy.threshold,
    kind: integer(1, 1_000),
    secret: false,
    needsTrust: null,
    description: "Outages in a row, over all sessions, that open a dependency's breaker.",
  },
  "breaker.cooldownMs": {
    environment: "MAESTRO_BREAKER_COOLDOWN_MS",
    default: breakerPolicy.cooldownMs,
    kind: integer(1, 86_400_000),
    secret: false,
    needsTrust: null,
    description: "How long an open breaker waits before one call may probe.",
  },
  "jira.baseUrl": {
    environment: "JIRA_BASE_URL",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "JIRA_API_TOKEN is sent there with each ticket",
    description: "Jira Cloud site for tickets, such as https://example.atlassian.net.",
  },
  "jira.email": {
    environment: "JIRA_EMAIL",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "JIRA_API_TOKEN is used with it",
    description: "Account that creates the tickets.",
  },
  "jira.apiToken": {
    environment: "JIRA_API_TOKEN",
    default: undefined,
    kind: text,
    secret: true,
    needsTrust: "a stranger would know the secret",
    description: "API token of that account.",
  },
  "jira.projectKey": {
    environment: "JIRA_PROJECT_KEY",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "tickets are created there with JIRA_API_TOKEN",
    description: "Jira project the tickets go to.",
  },
  "jira.allowInternal": {
    environment: "MAESTRO_JIRA_ALLOW_INTERNAL",
    default: false,
    kind: yesOrNo,
    secret: false,
    needsTrust: "requests could reach your private network",
    description: "Let Jira's host name resolve to a private address; one written as an address always may.",
  },
  "github.repository": {
    environment: "MAESTRO_GITHUB_REPOSITORY",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "tickets are created there with MAESTRO_GITHUB_TOKEN",
    description: "GitHub repository for tickets, as owner/name; used when Jira is not set.",
  },
  "github.token": {
    environment: "MAESTRO_GITHUB_TOKEN",
    default: undefined,
    kind: text,
    secret: true,
    needsTrust: "a stranger would know the secret",
    description: "Token that may write issues there.",
  },
  "github.apiUrl": {
    environment: "MAESTRO_GITHUB_API_URL",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "MAESTRO_GITHUB_TOKEN is sent there with each ticket",
    description: "For GitHub Enterprise: its API, such as https://github.example.com/api/v3.",
  },
  "github.allowInternal": {
    environment: "MAESTRO_GITHUB_ALLOW_INTERNAL",
    default: false,
    kind: yesOrNo,
    secret: false,
    needsTrust: "requests could reach your private network",
    description: "Let GitHub's host name resolve to a private address.",
  },
  "webhook.url": {
    environment: "MAESTRO_WEBHOOK_URL",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "warnings and tickets are sent there, signed with MAESTRO_WEBHOOK_SECRET",
    description:
      "Where warnings about budgets are posted as signed JSON, and tickets when neither Jira nor GitHub is set.",
  },
  "webhook.secret": {
    environment: "MAESTRO_WEBHOOK_SECRET",
    default: undefined,
    kind: text,
    secret: true,
    needsTrust: "a stranger would know the secret",
    description: "Key of the signature.",
  },
  "webhook.allowInternal": {
    environment: "MAESTRO_WEBHOOK_ALLOW_INTERNAL",
    default: false,
    kind: yesOrNo,
    secret: false,
    needsTrust: "requests could reach your private network",
    description: "Let the webhook reach loopback and private addresses.",
  },
  "budget.personaTokens": {
    environment: "MAESTRO_TOKEN_BUDGET",
    default: undefined,
    kind: tokens,
    secret: false,
    needsTrust: null,
    description: "Tokens a persona may use in a session, unless its team says otherwise.",
  },
  "budget.dayTokens": {
    environment: "MAESTRO_DAY_TOKEN_BUDGET",
    default: undefined,
    kind: tokens,
    secret: false,
    needsTrust: null,
    description: "Tokens all sessions together may use in a day (UTC).",
  },
  "budget.dayUsd": {
    environment: "MAESTRO_DAY_USD_BUDGET",
    default: undefined,
    kind: dollars,
    secret: false,
    needsTrust: null,
    description: "Dollars all sessions together may spend in a day (UTC).",
  },
  "budget.unpriced": {
    environment: "MAESTRO_UNPRICED",
    default: "refuse",
    kind: oneOf<UnpricedRule>("refuse", "allow"),
    secret: false,
    needsTrust: "it lifts a budget of dollars",
    description: "Calls without a known price under a budget of dollars; allowed, they count as nothing.",
  },
  prices: {
    environment: "MAESTRO_PRICES",
    default: undefined,
    kind: priceTable,
    secret: false,
    needsTrust: "wrong prices lift a budget of dollars",
    description: "Prices of models that are not published, or that are yours alone.",
  },
  "commands.memoryMiB": {
    environment: "MAESTRO_COMMAND_MEMORY_MIB",
    default: commandLimits.memoryMiB,
    kind: integer(64, 1_048_576),
    secret: false,
    needsTrust: "it lifts a limit of programs",
    description: "Memory of one check or agent, all its processes together, in MiB.",
  },
  "commands.diskMiB": {
    environment: "MAESTRO_COMMAND_DISK_MIB",
    default: commandLimits.diskMiB,
    kind: integer(16, 16_777_216),
    secret: false,
    needsTrust: "it lifts a limit of programs",
    description: "Files in the folder and home of one check or agent, in MiB.",
  },
  "commands.processes": {
    environment: "MAESTRO_COMMAND_PROCESSES",
    default: commandLimits.processes,
    kind: integer(16, 100_000),
    secret: false,
    needsTrust: "it lifts a limit of programs",
    description: "Processes and threads of one check or agent in the sandbox.",
  },
  sandbox: {
    environment: "MAESTRO_SANDBOX",
    default: "required",
    kind: oneOf<SandboxRule>("required", "none"),
    secret: false,
    needsTrust: "it decides whether programs are confined",
    description: "required or none; with none, checks and agents run as your user, on all your files.",
  },
  leaseMs: {
    environment: "MAESTRO_LEASE_MS",
    default: 15_000,
    kind: integer(1_000, 600_000),
    secret: false,
    needsTrust: null,
    description: "How long a silent driver keeps its right to a session.",
  },
  "limits.teams": sessionLimit("MAESTRO_TEAM_LIMITS", "Sessions of a team that may run at once."),
  "limits.models": sessionLimit("MAESTRO_MODEL_LIMITS", "Sessions of a provider/model that may run at once."),
  "limits.queues": sessionLimit("MAESTRO_QUEUE_LIMITS", "Sessions of a queue that may run at once; 0: none."),
  simulatedScript: {
    environment: "MAESTRO_SIMULATED_SCRIPT",
    default: undefined,
    kind: text,
    secret: false,
    needsTrust: "it names a file of your machine",
    description: "File with what the simulated model says; unset: it delivers what contracts ask for.",
  },
  "server.host": {
    environment: "MAESTRO_SERVER_HOST",
    default: "127.0.0.1",
    kind: text,
    secret: false,
    needsTrust: "it could open the server to the network",
    description: "Address that maestro serve listens on.",
  },
  "server.port": {
    environment: "MAESTRO_SERVER_PORT",
    default: 4160,
    kind: integer(0, 65_535),
    secret: false,
    needsTrust: null,
    description: "Port that maestro serve listens on; 0 takes a free one.",
  },
  "server.apiToken": {
    environment: "MAESTRO_API_TOKEN",
    default: undefined,
    kind: apiToken,
    secret: true,
    needsTrust: "a stranger would know the secret",
    description:
      "Token of the HTTP API; unset: one is made at the first start and kept in the state directory.",
  },
  "server.places": {
    environment: "MAESTRO_SERVER_PLACES",
    default: 8,
    kind: integer(1, 10_000),
    secret: false,
    needsTrust: null,
    description: "Sessions that maestro serve drives at once; the others are queued.",
  },
  "server.functionMemoryMb": {
    environment: "MAESTRO_SERVER_FUNCTION_MEMORY_MB",
    default: 1_024,
    kind: integer(64, 1_048_576),
    secret: false,
    needsTrust: "it lifts a limit of what code may use",
    description: "MiB of memory that an attempt of a function persona may use under maestro serve.",
  },
  "server.publicUrl": {
    environment: "MAESTRO_SERVER_PUBLIC_URL",
    default: undefined,
    kind: origin,
    secret: false,
    description: "Address under which people reach maestro serve, where that is not its own.",
    needsTrust: "it decides how people reach the server",
  },
  "server.tlsCert": {
    environment: "MAESTRO_SERVER_TLS_CERT",
    default: undefined,
    kind: text,
    secret: false,
    description: "PEM file with the certificate of maestro serve and those of its issuers.",
    needsTrust: "it decides how people reach the server",
  },
  "server.tlsKey": {
    environment: "MAESTRO_SERVER_TLS_KEY",
    default: undefined,
    kind: text,
    secret: false,
    description: "PEM file with the private key of that certificate.",
    needsTrust: "it decides how people reach the server",
  },
};

export const settingKeys: readonly SettingKey[] = Object.keys(settings) as SettingKey[];

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

/** Pairs whose first may not be larger than the second. */
export const orderedPairs: readonly (readonly [SettingKey, SettingKey])[] = [
  ["attempts.baseDelayMs", "attempts.maxDelayMs"],
  ["rounds.baseDelayMs", "rounds.maxDelayMs"],
];
