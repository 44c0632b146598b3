import { until } from "./until.ts";

/** Ends this process at once, as a power cut would. */
export async function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  await until("the signal has arrived", () => false);
  throw new Error("a killed process continued");
}
