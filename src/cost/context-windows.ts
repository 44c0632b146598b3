/** How many tokens a call of the model may have, input and output together. Undefined: not published. */
export async function publishedWindow(name: string): Promise<number | undefined> {
  const slash = name.indexOf("/");
  const [providerId, model] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash <= 0 || model === "") return undefined;
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  const provider = findProvider({ providerId });
  // It finds something for anything that sounds alike.
  if (provider?.id !== providerId) return undefined;
  return calcPrice({ input_tokens: 1 }, model, { provider })?.model.context_window;
}
