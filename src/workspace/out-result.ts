import type { Kept } from "./out-plan.ts";

export interface OutResult {
  /** Made or replaced now. */
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** Left alone because a person made or changed them; the new version may lie beside, as `<name>.maestro-new`. */
  readonly kept: readonly Kept[];
}
