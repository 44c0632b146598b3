// Only `any` fits the SDK's types without importing them.
// biome-ignore lint/suspicious/noExplicitAny: see above
// oxlint-disable-next-line typescript/no-explicit-any
type OfSdk = any;

/** A tool of `ctx.tools`: fits wherever the AI SDK takes a tool, and can be called by itself. Each call is a durable step. */
export interface ContextTool {
  readonly description: string;
  readonly inputSchema: OfSdk;
  readonly execute: (input: OfSdk, options?: OfSdk) => Promise<OfSdk>;
}

export type ContextTools = Readonly<Record<string, ContextTool>>;
