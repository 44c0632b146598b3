import * as is from "./schema.ts";
import { budgetChange } from "./values.ts";

/** A signal from another process; becomes one journal row. */
export const signal = is.union(
  /** `by`: not a person's word about the session, but Ctrl-C in its terminal. */
  { action: is.literal("pause"), by: is.optional(is.literal("interrupt")) },
  { action: is.literal("cancel") },
  /** `phase`: several may wait for review at once. */
  { action: is.literal("approve"), phase: is.optional(is.name), note: is.optional(is.text) },
  /** `repeatEffects`: effects of the phase that happened may happen again. */
  {
    action: is.literal("reject"),
    phase: is.optional(is.name),
    note: is.text,
    repeatEffects: is.optional(is.literal(true)),
  },
  /** How an effect of unknown outcome ended. `seq`: the row of its intent. */
  {
    action: is.literal("settle"),
    seq: is.seq,
    happened: is.boolean,
    result: is.optional(is.json),
  },
  /** A call that waits for a person may begin. `call`: its row. `arguments`: instead of those that the persona gave. */
  {
    action: is.literal("approve-call"),
    call: is.seq,
    arguments: is.optional(is.jsonObject),
    note: is.optional(is.text),
  },
  /** The note becomes the result of the call. */
  { action: is.literal("reject-call"), call: is.seq, note: is.text },
  /** The answer to a question. */
  { action: is.literal("answer"), call: is.seq, text: is.text },
  /** A new limit; fields that are missing stay as they are. */
  {
    action: is.literal("budget"),
    level: is.literal("persona", "phase", "session"),
    /** Of the persona or the phase. */
    name: is.optional(is.label),
    budget: budgetChange,
  },
);
export type Signal = is.TypeOf<typeof signal>;
