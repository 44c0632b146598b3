import type { AnyModel, Model } from "./sdk-types.ts";

/** Looks like the model and becomes what is loaded at its first call: whoever makes one may never call it. */
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
