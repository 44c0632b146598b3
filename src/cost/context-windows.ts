/** The context window of a model in tokens, input and output together. Undefined if it is not published. */
export async function publishedWindow(name: string): Promise<number | undefined> {
  const slash = name.indexOf("/");
  const [providerId, model] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash <= 0 || model === "") return undefined;
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  const provider = findProvider({ providerId });
  // The library matches similar names, so check the provider.
  if (provider?.id !== providerId) return undefined;
  return calcPrice({ input_tokens: 1 }, model, { provider })?.model.context_window;
}
