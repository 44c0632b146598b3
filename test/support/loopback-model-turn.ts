/** One answer of a model, whatever its provider's protocol. */
export interface ModelTurn {
  /** Of the answer; agents count two answers with one id as one. */
  readonly id?: string;
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly input: unknown }[];
  /** Anthropic's and OpenAI's "stop because of the limit". */
  readonly cutAtLimit?: boolean;
  /** Why a server of chat completions says that the answer ended, in words of its own. */
  readonly finish?: string;
  readonly usage?: ModelTurnUsage;
}

export interface ModelTurnUsage {
  /** Cached and cache-write tokens are part of it. */
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  /** Reasoning tokens are part of it. */
  readonly output: number;
  readonly reasoning: number;
}

export const usualUsage: ModelTurnUsage = {
  input: 1200,
  cached: 1000,
  cacheWrite: 0,
  output: 80,
  reasoning: 30,
};

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** The provider's own name for it. */
  readonly code: string;
}

/** How one provider writes answers. */
export interface Dialect {
  /** The beginning of the path of every call. */
  readonly path: RegExp;
  readonly wantsStream: (path: string, body: Record<string, unknown>) => boolean;
  /** The header of the key. */
  readonly keyHeader: (key: string) => readonly [name: string, value: string];
  readonly whole: (turn: ModelTurn, model: string) => unknown;
  /** Server-sent events in order, as they are sent. */
  readonly stream: (turn: ModelTurn, model: string) => readonly string[];
  /** One more piece of text; for endless answers. */
  readonly textEvent: (text: string) => string;
  readonly refusal: (refusal: Refusal) => unknown;
  readonly errorEvent: (refusal: Refusal) => string;
}

export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Two pieces, so that the reader must join them. */
export const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
};
