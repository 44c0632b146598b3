/** The name of the model that plays a script, offline. */
export const simulatedName = "simulated";

/** Whether a session used no real model, judged by its calls, or before the first one by its model. */
export function isAllSimulated(
  { calls, simulatedCalls }: { readonly calls: number; readonly simulatedCalls: number },
  model: string | null | undefined,
): boolean {
  return calls === 0 ? isSimulated(model ?? "") : simulatedCalls === calls;
}

/** Nothing it says comes from a model, and nothing it costs is real money. */
export function isSimulated(model: string): boolean {
  return model === simulatedName || model.startsWith(`${simulatedName}/`);
}
