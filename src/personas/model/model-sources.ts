import type { ModelObjects } from "./model-object.ts";

// Public types. They import nothing of the AI SDK: its declarations fail in strict projects that check libraries.

export type Environment = Readonly<Record<string, string | undefined>>;

/** Makes a model of a provider that a program brings. */
export type OwnProvider = (modelId: string) => unknown;

/** An OpenAI-compatible server that the configuration names. */
export interface ModelServer {
  readonly baseUrl: string;
  /** The variable that holds its key. */
  readonly keyVariable?: string | undefined;
}

/** Where models come from. */
export interface ModelSources {
  readonly env: Environment;
  /** Models that the team's code made. */
  readonly objects?: ModelObjects | undefined;
  /** Providers that the program brings. */
  readonly own?: Readonly<Record<string, OwnProvider>> | undefined;
  /** OpenAI-compatible servers by name. */
  readonly servers?: Readonly<Record<string, ModelServer>> | undefined;
  /** Folders whose installed packages may be loaded, besides Maestro's own. */
  readonly folders?: readonly string[] | undefined;
}
