import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** VmHWM where there is /proc; elsewhere what getrusage says. */
export function peakMemoryMegabytes(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

export function diskBytes(path: string): number {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + diskBytes(join(path, name)), 0);
}
