/** Nothing it says comes from a model, and nothing it costs is money. */
export function isSimulated(model: string): boolean {
  return model === "simulated" || model.startsWith("simulated/");
}
