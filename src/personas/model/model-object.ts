/**
 * A language model object of the AI SDK, declared by its shape: the SDK's own declarations fail in strict projects that
 * check libraries, so the package's public types must not import them.
 */
export interface LanguageModelObject {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** By the name that a definition records. */
export type ModelObjects = Readonly<Record<string, LanguageModelObject>>;

/** "anthropic/claude-sonnet-4-5": the name in team files, breakers and prices. */
export function modelName({ provider, modelId }: Pick<LanguageModelObject, "provider" | "modelId">): string {
  const name = provider.split(".")[0] ?? provider;
  return name === modelId ? name : `${name}/${modelId}`;
}

/** The members that Maestro calls and that the value lacks. */
export function missingOfModel(value: unknown): readonly string[] {
  const found = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  return ["specificationVersion", "provider", "modelId", "doGenerate", "doStream"].filter((key) =>
    key.startsWith("do") ? typeof found[key] !== "function" : typeof found[key] !== "string",
  );
}

export const isModelObject = (value: unknown): value is LanguageModelObject =>
  missingOfModel(value).length === 0;
