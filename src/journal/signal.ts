import * as is from "./schema.ts";
import { budgetChange } from "./values.ts";

/** The decision of a person, which becomes one journal row. */
const decision = is.union(
  /** `by`: Ctrl-C in the session's terminal, unlike a pause by command. */
  { action: is.literal("pause"), by: is.optional(is.literal("interrupt")) },
  { action: is.literal("cancel") },
  /** `phase`: needed because several may wait for review at once. */
  { action: is.literal("approve"), phase: is.optional(is.name), note: is.optional(is.text) },
  /** `repeatEffects`: effects of the phase that already happened may happen again. */
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
  /** Approves a call that waits for a person. `call`: its row. `arguments`: replace those that the persona gave. */
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
  /** A new limit. Missing fields stay unchanged. */
  {
    action: is.literal("budget"),
    level: is.literal("persona", "phase", "session"),
    /** The name of the persona or phase. */
    name: is.optional(is.label),
    budget: budgetChange,
  },
);

/** `person`: the name of the token that sent it. Missing: it came from the command line, a program, or the only token. */
export const signal = is.extend(decision, { person: is.optional(is.label) });
export type Signal = is.TypeOf<typeof signal>;

/** A request to stop the drive, which takes effect at the next step. */
export type StopRequest = Extract<Signal["action"], "pause" | "cancel">;

/** A cancel is final, so a later pause does not replace it. */
export const stopRequest = (before: StopRequest | null, { action }: Signal): StopRequest | null =>
  action === "cancel" || before === "cancel" ? "cancel" : action === "pause" ? "pause" : before;
