import type { Kind } from "./setting-kinds.ts";

/** One row of the table, with all facts about a setting. */
export interface Setting<Value> {
  readonly environment: string;
  readonly default: Value;
  readonly kind: Kind<NonNullable<Value>>;
  readonly secret: boolean;
  /** Why only a trusted folder may set it; null: any folder may. */
  readonly needsTrust: string | null;
  readonly description: string;
}
