import type { Json, JsonObject } from "../domain/json.ts";

/** JSON in the row itself, or the SHA-256 of the blob that holds it. No stored value is a string. */
type Stored<T extends Json> = T | string;

/** How the row of a model call says what was sent. */
export interface SentCall {
  /** The fingerprint of an earlier call: this call repeats its first `keep` messages. */
  readonly after?: string;
  readonly keep?: number;
  /** The messages behind those. */
  readonly add: Stored<readonly Stored<JsonObject>[]>;
  /** Absent: as in the call `after`, or none. `null`: none, although that call had some. */
  readonly tools?: Stored<readonly Json[]> | null;
  /** Absent: as in the call `after`. */
  readonly settings?: Stored<JsonObject>;
}
