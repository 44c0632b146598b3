import type { PriceTable } from "../cost/price-per-million.ts";
import { breakerPolicy } from "../domain/breaker.ts";
import type { UnpricedRule } from "../domain/budget.ts";
import { attemptPolicy, roundPolicy } from "../domain/retry-policy.ts";
import type { SettingKey, SettingValue } from "./config.ts";

// No schema library here: a flat table needs none, and importing one costs every command 124 ms.

/** One row of the table: everything there is to know about a setting. */
export interface Setting<Value> {
  readonly environment: string;
  readonly default: Value;
  readonly kind: Kind<NonNullable<Value>>;
  readonly secret: boolean;
  readonly description: string;
}

/** A type of value: its wording for errors, and its reader. */
interface Kind<Value> {
  readonly allowed: string;
  /** `undefined` when the value is not allowed. `isText`: it comes from a place that only knows text. */
  readonly read: (raw: unknown, isText: boolean) => Value | undefined;
}

const text: Kind<string> = {
  allowed: "a text that is not empty",
  read: (raw) => (typeof raw === "string" && raw.trim() !== "" && !raw.includes("\0") ? raw : undefined),
};

function integer(least: number, most: number): Kind<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    read(raw, isText) {
      const value = isText && typeof raw === "string" && /^\s*-?\d+\s*$/.test(raw) ? Number(raw) : raw;
      return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
        ? value
        : undefined;
    },
  };
}

const delayMs = integer(0, 3_600_000);
const tokens = integer(1, 1_000_000_000_000);

const dollars: Kind<number> = {
  allowed: "an amount of dollars from 0.01 to 1000000",
  read(raw, isText) {
    const value = isText && typeof raw === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(raw) ? Number(raw) : raw;
    return typeof value === "number" && value >= 0.01 && value <= 1_000_000 ? value : undefined;
  },
};

/** Goes into a header as it is. */
const apiToken: Kind<string> = {
  allowed: "at least 8 letters, digits and signs such as - . _ ~ + / =",
  read: (raw) => (typeof raw === "string" && /^[\w.~+/=-]{8,512}$/.test(raw) ? raw : undefined),
};

const yesOrNo: Kind<boolean> = {
  allowed: "true or false",
  read: (raw, isText) =>
    isText ? { true: true, false: false }[String(raw).trim()] : typeof raw === "boolean" ? raw : undefined,
};

const unpriced: Kind<UnpricedRule> = {
  allowed: "refuse or allow",
  read: (raw) => (["refuse", "allow"] as const).find((rule) => rule === String(raw).trim()),
};

const priceParts = ["input", "cached", "cacheWrite", "output", "reasoning"];

const priceTable: Kind<PriceTable> = {
  allowed:
    'dollars per million tokens by model, such as { "provider/model": { "input": 0.2, "output": 0.6 } }',
  read(raw, isText) {
    const table = isText ? parsed(raw) : raw;
    return isObject(table) && Object.values(table).every(isPrice) ? (table as PriceTable) : undefined;
  },
};

function isPrice(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.keys(value).every((key) => priceParts.includes(key)) &&
    Object.values(value).every((price) => typeof price === "number" && price >= 0 && price < 1e9) &&
    "input" in value &&
    "output" in value
  );
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

export const settings: { readonly [Key in SettingKey]: Setting<SettingValue<Key>> } = {
  stateDir: {
    environment: "MAESTRO_STATE_DIR",
    default: undefined,
    kind: text,
    secret: false,
    description:
      "Directory of all state; unset: /var/maestro/state, or the user's own if that is not writable.",
  },
  model: {
    environment: "MAESTRO_MODEL",
    default: undefined,
    kind: text,
    secret: false,
    description: "Model, as provider/model, instead of the team's own.",
  },
  "attempts.max": {
    environment: "MAESTRO_L1_MAX_ATTEMPTS",
    default: attemptPolicy.maxAttempts,
    kind: integer(1, 20),
    secret: false,
    description: "Attempts at a persona's work in one round.",
  },
  "attempts.baseDelayMs": {
    environment: "MAESTRO_L1_BASE_DELAY_MS",
    default: attemptPolicy.baseDelayMs,
    kind: delayMs,
    secret: false,
    description: "Wait after the first failed attempt; it doubles from there.",
  },
  "attempts.maxDelayMs": {
    environment: "MAESTRO_L1_MAX_DELAY_MS",
    default: attemptPolicy.maxDelayMs,
    kind: delayMs,
    secret: false,
    description: "Longest wait between attempts.",
  },
  "attempts.timeoutMs": {
    environment: "MAESTRO_L1_TIMEOUT_MS",
    default: 300_000,
    kind: integer(1_000, 86_400_000),
    secret: false,
    description: "How long an attempt may stand still before it is ended.",
  },
  "rounds.max": {
    environment: "MAESTRO_L2_MAX_ATTEMPTS",
    default: roundPolicy.maxAttempts,
    kind: integer(1, 10),
    secret: false,
    description: "Rounds of attempts before a person is asked.",
  },
  "rounds.baseDelayMs": {
    environment: "MAESTRO_L2_BASE_DELAY_MS",
    default: roundPolicy.baseDelayMs,
    kind: delayMs,
    secret: false,
    description: "Wait after the first failed round; it doubles from there.",
  },
  "rounds.maxDelayMs": {
    environment: "MAESTRO_L2_MAX_DELAY_MS",
    default: roundPolicy.maxDelayMs,
    kind: delayMs,
    secret: false,
    description: "Longest wait between rounds.",
  },
  "breaker.threshold": {
    environment: "MAESTRO_BREAKER_THRESHOLD",
    default: breakerPolicy.threshold,
    kind: integer(1, 1_000),
    secret: false,
    description: "Outages in a row, over all sessions, that open a dependency's breaker.",
  },
  "breaker.cooldownMs": {
    environment: "MAESTRO_BREAKER_COOLDOWN_MS",
    default: breakerPolicy.cooldownMs,
    kind: integer(1, 86_400_000),
    secret: false,
    description: "How long an open breaker waits before one call may probe.",
  },
  "jira.baseUrl": {
    environment: "JIRA_BASE_URL",
    default: undefined,
    kind: text,
    secret: false,
    description: "Jira Cloud site for tickets, such as https://example.atlassian.net.",
  },
  "jira.email": {
    environment: "JIRA_EMAIL",
    default: undefined,
    kind: text,
    secret: false,
    description: "Account that creates the tickets.",
  },
  "jira.apiToken": {
    environment: "JIRA_API_TOKEN",
    default: undefined,
    kind: text,
    secret: true,
    description: "API token of that account.",
  },
  "jira.projectKey": {
    environment: "JIRA_PROJECT_KEY",
    default: undefined,
    kind: text,
    secret: false,
    description: "Jira project the tickets go to.",
  },
  "jira.allowInternal": {
    environment: "MAESTRO_JIRA_ALLOW_INTERNAL",
    default: false,
    kind: yesOrNo,
    secret: false,
    description: "Let Jira's host name resolve to a private address; one written as an address always may.",
  },
  "github.repository": {
    environment: "MAESTRO_GITHUB_REPOSITORY",
    default: undefined,
    kind: text,
    secret: false,
    description: "GitHub repository for tickets, as owner/name; used when Jira is not set.",
  },
  "github.token": {
    environment: "MAESTRO_GITHUB_TOKEN",
    default: undefined,
    kind: text,
    secret: true,
    description: "Token that may write issues there.",
  },
  "github.apiUrl": {
    environment: "MAESTRO_GITHUB_API_URL",
    default: undefined,
    kind: text,
    secret: false,
    description: "For GitHub Enterprise: its API, such as https://github.example.com/api/v3.",
  },
  "github.allowInternal": {
    environment: "MAESTRO_GITHUB_ALLOW_INTERNAL",
    default: false,
    kind: yesOrNo,
    secret: false,
    description: "Let GitHub's host name resolve to a private address.",
  },
  "webhook.url": {
    environment: "MAESTRO_WEBHOOK_URL",
    default: undefined,
    kind: text,
    secret: false,
    description:
      "Where warnings about budgets are posted as signed JSON, and tickets when neither Jira nor GitHub is set.",
  },
  "webhook.secret": {
    environment: "MAESTRO_WEBHOOK_SECRET",
    default: undefined,
    kind: text,
    secret: true,
    description: "Key of the signature.",
  },
  "webhook.allowInternal": {
    environment: "MAESTRO_WEBHOOK_ALLOW_INTERNAL",
    default: false,
    kind: yesOrNo,
    secret: false,
    description: "Let the webhook reach loopback and private addresses.",
  },
  "budget.personaTokens": {
    environment: "MAESTRO_TOKEN_BUDGET",
    default: undefined,
    kind: tokens,
    secret: false,
    description: "Tokens a persona may use in a session, unless its team says otherwise.",
  },
  "budget.dayTokens": {
    environment: "MAESTRO_DAY_TOKEN_BUDGET",
    default: undefined,
    kind: tokens,
    secret: false,
    description: "Tokens all sessions together may use in a day (UTC).",
  },
  "budget.dayUsd": {
    environment: "MAESTRO_DAY_USD_BUDGET",
    default: undefined,
    kind: dollars,
    secret: false,
    description: "Dollars all sessions together may spend in a day (UTC).",
  },
  "budget.unpriced": {
    environment: "MAESTRO_UNPRICED",
    default: "refuse",
    kind: unpriced,
    secret: false,
    description: "Calls without a known price under a budget of dollars; allowed, they count as nothing.",
  },
  prices: {
    environment: "MAESTRO_PRICES",
    default: undefined,
    kind: priceTable,
    secret: false,
    description: "Prices of models that are not published, or that are yours alone.",
  },
  sandboxRequired: {
    environment: "MAESTRO_SANDBOX_REQUIRED",
    default: false,
    kind: yesOrNo,
    secret: false,
    description: "Where there is no sandbox, checks and agents on the command line do not start at all.",
  },
  leaseMs: {
    environment: "MAESTRO_LEASE_MS",
    default: 15_000,
    kind: integer(1_000, 600_000),
    secret: false,
    description: "How long a silent driver keeps its right to a session.",
  },
  simulatedScript: {
    environment: "MAESTRO_SIMULATED_SCRIPT",
    default: undefined,
    kind: text,
    secret: false,
    description: "File with what the simulated model says; unset: it delivers what contracts ask for.",
  },
  "server.host": {
    environment: "MAESTRO_SERVER_HOST",
    default: "127.0.0.1",
    kind: text,
    secret: false,
    description: "Address that maestro serve listens on.",
  },
  "server.port": {
    environment: "MAESTRO_SERVER_PORT",
    default: 4160,
    kind: integer(0, 65_535),
    secret: false,
    description: "Port that maestro serve listens on; 0 takes a free one.",
  },
  "server.apiToken": {
    environment: "MAESTRO_API_TOKEN",
    default: undefined,
    kind: apiToken,
    secret: true,
    description:
      "Token of the HTTP API; unset: one is made at the first start and kept in the state directory.",
  },
  "server.places": {
    environment: "MAESTRO_SERVER_PLACES",
    default: 8,
    kind: integer(1, 10_000),
    secret: false,
    description: "Sessions that maestro serve drives at once; the others are queued.",
  },
  "server.allowedHosts": {
    environment: "MAESTRO_SERVER_ALLOWED_HOSTS",
    default: undefined,
    kind: text,
    secret: false,
    description: "Further names, as host or host:port and separated by commas, under which it may be asked.",
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
