import { requireFreshBuild } from "../../../bench/built-package.ts";

/** Killing yesterday's build proves nothing about today's. */
export function setup(): void {
  requireFreshBuild();
}
