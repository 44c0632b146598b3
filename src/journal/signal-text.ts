import type { Signal } from "./signal.ts";

/** The whole text of a person's signal. */
export function signalText(signal: Signal): string {
  switch (signal.action) {
    case "pause":
      return signal.by === "interrupt" ? "pressed Ctrl-C" : "paused the session";
    case "cancel":
      return "canceled the session";
    case "approve":
      return withNote(`approved ${signal.phase ?? "the phase"}`, signal.note);
    case "reject":
      return withNote(`rejected ${signal.phase ?? "the phase"}`, signal.note);
    case "settle": {
      const { happened, result } = signal;
      const given = result === undefined ? undefined : JSON.stringify(result);
      return withNote(`said that the effect ${happened ? "happened" : "did not happen"}`, given);
    }
    case "approve-call": {
      const { arguments: args, note } = signal;
      const changed = args === undefined ? "" : ` with the arguments ${JSON.stringify(args)}`;
      return withNote(`approved the call${changed}`, note);
    }
    case "reject-call":
      return withNote("rejected the call", signal.note);
    case "answer":
      return signal.text;
    case "budget":
      return `changed the budget of ${signal.name === undefined ? "the session" : `${signal.level} ${signal.name}`}`;
  }
}

const withNote = (text: string, note: string | undefined): string =>
  note === undefined || note === "" ? text : `${text}: ${note}`;
