import type { PriceTable } from "../cost/price-per-million.ts";
import type { ModelServer } from "../personas/model/model-sources.ts";
import { checkProviderName } from "../personas/model/own-providers.ts";
import type { ProviderRates } from "../store/decisions/rates.ts";

// No schema library: a flat table needs none, and importing one would cost every command 124 ms.

/** A type of value: its wording for errors, and its reader. */
export interface Kind<Value> {
  readonly allowed: string;
  /** `undefined` if the value is not allowed. `isText`: the source has only text. */
  readonly read: (raw: unknown, isText: boolean) => Value | undefined;
}

export const text: Kind<string> = {
  allowed: "a text that is not empty",
  read: (raw) => (typeof raw === "string" && raw.trim() !== "" && !raw.includes("\0") ? raw : undefined),
};

export function integer(least: number, most: number): Kind<number> {
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

export const delayMs = integer(0, 3_600_000);
export const tokens = integer(1, 1_000_000_000_000);

export const dollars: Kind<number> = {
  allowed: "an amount of dollars from 0.01 to 1000000",
  read(raw, isText) {
    const value = isText && typeof raw === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(raw) ? Number(raw) : raw;
    return typeof value === "number" && value >= 0.01 && value <= 1_000_000 ? value : undefined;
  },
};

/** Sent unchanged in a header. */
export const apiToken: Kind<string> = {
  allowed: "at least 8 letters, digits and signs such as - . _ ~ + / =",
  read: (raw) => (typeof raw === "string" && /^[\w.~+/=-]{8,512}$/.test(raw) ? raw : undefined),
};

export const origin: Kind<string> = {
  allowed: "an http or https address without a path, such as https://maestro.example.org",
  read: (raw) => {
    const url = typeof raw === "string" ? URL.parse(raw.trim()) : null;
    const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    return isPlain ? url.origin : undefined;
  },
};

export const yesOrNo: Kind<boolean> = {
  allowed: "true or false",
  read: (raw, isText) =>
    isText ? { true: true, false: false }[String(raw).trim()] : typeof raw === "boolean" ? raw : undefined,
};

export function oneOf<Value extends string>(...values: readonly Value[]): Kind<Value> {
  return {
    allowed: values.join(" or "),
    read: (raw) => values.find((value) => value === String(raw).trim()),
  };
}

const priceParts = ["input", "cached", "cacheWrite", "output", "reasoning"];

export const priceTable: Kind<PriceTable> = {
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

const variable = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** The address is checked when a model of the server is used, so that the error names the server. */
export const serverTable: Kind<Readonly<Record<string, ModelServer>>> = {
  allowed:
    'addresses by name, such as { "vllm": { "baseUrl": "http://127.0.0.1:8000/v1", "keyVariable": "VLLM_API_KEY" } }; no name may be that of a provider of Maestro',
  read(raw, isText) {
    const table = isText ? parsed(raw) : raw;
    if (!isObject(table) || Array.isArray(table)) return undefined;
    const isRight = ([name, server]: [string, unknown]): boolean =>
      checkProviderName(name) === undefined && isServer(server);
    return Object.entries(table).every(isRight) ? (table as Record<string, ModelServer>) : undefined;
  },
};

function isServer(server: unknown): boolean {
  if (!isObject(server)) return false;
  const { baseUrl, keyVariable, ...rest } = server as Record<string, unknown>;
  const url = typeof baseUrl === "string" ? URL.parse(baseUrl) : null;
  const isKey = keyVariable === undefined || (typeof keyVariable === "string" && variable.test(keyVariable));
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === "" &&
    isKey &&
    Object.keys(rest).length === 0
  );
}

const rateParts = ["requestsPerMinute", "tokensPerMinute"];

export const providerRates: Kind<ProviderRates> = {
  allowed:
    'limits by provider, such as { "provider": { "requestsPerMinute": 50, "tokensPerMinute": 400000 } }',
  read(raw, isText) {
    const table = isText ? parsed(raw) : raw;
    if (!isObject(table) || Array.isArray(table) || Object.keys(table).length > mostNames) return undefined;
    const isRate = (rate: unknown): boolean =>
      isObject(rate) &&
      Object.keys(rate).length > 0 &&
      Object.entries(rate).every(
        ([part, most]) => rateParts.includes(part) && perMinute.read(most, false) !== undefined,
      );
    return Object.values(table).every(isRate) ? (table as ProviderRates) : undefined;
  },
};

const perMinute = integer(1, 1_000_000_000);

const mostSessions = 10_000;
const mostNames = 1_000;

/** A limit of 0 holds back its sessions. */
const sessionLimits: Kind<Readonly<Record<string, number>>> = {
  allowed: `numbers of sessions from 0 to ${mostSessions} by name, such as { "product": 2 }`,
  read(raw, isText) {
    const table = isText ? parsed(raw) : raw;
    if (!isObject(table) || Array.isArray(table) || Object.keys(table).length > mostNames) return undefined;
    const isLimit = (most: unknown) => integer(0, mostSessions).read(most, false) !== undefined;
    return Object.values(table).every(isLimit) ? (table as Record<string, number>) : undefined;
  },
};

/** A limit on sessions by name, across all processes of the state directory. */
export const sessionLimit = (environment: string, description: string) => ({
  environment,
  default: undefined,
  kind: sessionLimits,
  secret: false,
  needsTrust: null,
  description,
});
