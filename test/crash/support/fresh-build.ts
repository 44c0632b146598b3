import { requireFreshBuild } from "../../../bench/built-package.ts";

/** A stale build would prove nothing about the sources. */
export function setup(): void {
  requireFreshBuild();
}
