import type { AnyModel, Model } from "./sdk-types.ts";

/** Loads the model at its first call: many are made and never called. */
export function lazyModel(
  { provider, modelId, supportedUrls }: Exclude<AnyModel, string>,
  load: () => Promise<Model>,
): Model {
  let loading: Promise<Model> | undefined;
  const loaded = (): Promise<Model> => {
    loading ??= load();
    return loading;
  };
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls,
    doGenerate: async (options) => (await loaded()).doGenerate(options),
    doStream: async (options) => (await loaded()).doStream(options),
  };
}
