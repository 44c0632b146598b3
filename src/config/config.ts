import type { PriceTable } from "../cost/price-per-million.ts";
import type { UnpricedRule } from "../domain/budget.ts";
import type { ModelServer } from "../personas/model/model-sources.ts";
import type { ProviderRates } from "../store/decisions/rates.ts";
import type { SandboxRule } from "../workspace/sandbox-kind.ts";

/** Every setting of Maestro, as the rest of the code reads it. */
export interface Config {
  /** `undefined`: the state directory's own rule decides (see `store/state-directory.ts`). */
  readonly stateDir: string | undefined;
  /** `undefined`: the team's own model. */
  readonly model: string | undefined;
  /** Level 1: attempts at a persona's work within one round. */
  readonly attempts: Retries & { readonly timeoutMs: number };
  /** Level 2: sets of attempts. */
  readonly rounds: Retries;
  readonly breaker: { readonly threshold: number; readonly cooldownMs: number };
  /** Where tickets go. Default: a file in the state directory. */
  readonly jira: {
    readonly baseUrl: string | undefined;
    readonly email: string | undefined;
    readonly apiToken: string | undefined;
    readonly projectKey: string | undefined;
    readonly allowInternal: boolean;
  };
  readonly github: {
    readonly repository: string | undefined;
    readonly token: string | undefined;
    /** `undefined`: github.com. */
    readonly apiUrl: string | undefined;
    readonly allowInternal: boolean;
  };
  readonly webhook: {
    readonly url: string | undefined;
    readonly secret: string | undefined;
    readonly allowInternal: boolean;
  };
  /** Applies if neither the team nor a person sets a budget. */
  readonly budget: {
    /** Limit for each persona in a session. */
    readonly personaTokens: number | undefined;
    /** Limit per UTC day for all sessions of the state directory together. */
    readonly dayTokens: number | undefined;
    readonly dayUsd: number | undefined;
    /** Whether dollar budgets accept models without a known price. */
    readonly unpriced: UnpricedRule;
  };
  /** Dollars per million tokens, by model, with precedence over published prices. `undefined`: only those. */
  readonly prices: PriceTable | undefined;
  /** OpenAI-compatible servers, by the prefix of their models' names. */
  readonly servers: Readonly<Record<string, ModelServer>> | undefined;
  /** A folder whose installed provider packages may be loaded, besides Maestro's own. */
  readonly providersFrom: string | undefined;
  readonly leaseMs: number;
  /** Sessions that may run at once, by name, across all processes of the state directory. */
  readonly limits: {
    readonly teams: SessionLimit | undefined;
    readonly models: SessionLimit | undefined;
    readonly queues: SessionLimit | undefined;
    /** Providers' limits per minute. */
    readonly providers: ProviderRates | undefined;
  };
  readonly sandbox: SandboxRule;
  /** Limits of one check or agent: all its processes together. */
  readonly commands: {
    readonly memoryMiB: number;
    readonly diskMiB: number;
    readonly processes: number;
  };
  /** A file with the script of the simulated model. `undefined`: it does what contracts ask for. */
  readonly simulatedScript: string | undefined;
  /** Settings of `maestro serve`. */
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** `undefined`: the token in the state directory, created at the first start. */
    readonly apiToken: string | undefined;
    /** Sessions driven at once. */
    readonly places: number;
    /** The address under which people reach it, if different from its own. */
    readonly publicUrl: string | undefined;
    /** PEM files, which make it speak TLS. */
    readonly tlsCert: string | undefined;
    readonly tlsKey: string | undefined;
    /** Memory limit of a process that runs an attempt of a function persona. */
    readonly functionMemoryMb: number;
  };
}

type SessionLimit = Readonly<Record<string, number>>;

interface Retries {
  readonly max: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** A part of the configuration, as a program gives it to `open()`. */
export type ConfigOverrides = DeepPartial<Config>;

type DeepPartial<T> = {
  readonly [K in keyof T]?: (T[K] extends object ? DeepPartial<T[K]> : T[K]) | undefined;
};

/** The dotted path of every setting: `"stateDir" | "attempts.max" | ...`. */
export type SettingKey = DottedPath<Config>;

type DottedPath<T> = {
  [K in keyof T & string]: T[K] extends object ? `${K}.${DottedPath<T[K]>}` : K;
}[keyof T & string];

export type SettingValue<Key extends string> = ValueAt<Config, Key>;

type ValueAt<T, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof T
    ? ValueAt<T[Head], Rest>
    : never
  : Path extends keyof T
    ? T[Path]
    : never;
