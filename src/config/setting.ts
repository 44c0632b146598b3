import type { Kind } from "./setting-kinds.ts";

/** One row of the table: everything there is to know about a setting. */
export interface Setting<Value> {
  readonly environment: string;
  readonly default: Value;
  readonly kind: Kind<NonNullable<Value>>;
  readonly secret: boolean;
  /** Why a folder sets it only if a person trusted that folder; null: any folder may. */
  readonly needsTrust: string | null;
  readonly description: string;
}
