import { redact } from "../../domain/redact.ts";
import { withNote } from "../person-note.ts";
import * as is from "../schema.ts";
import { event, shorten } from "./define.ts";

export const noteEvents = {
  /** A person's note for the next attempts. */
  "session.noted": event({
    row: is.object({ note: is.text }),
    reduce: (state, { note }, { seq }) => ({ ...state, notes: withNote(state, seq, note) }),
    said: ({ note }) => ({ action: "note", text: note }),
    fact: ({ note }) => ({ note: shorten(redact(note)) }),
    logged: () => "a person left a note",
    sentence: ({ note }) => `note of a person: ${note}`,
    isTransition: true,
  }),
};
