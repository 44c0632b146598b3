import { advise, notePlaceholder } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { emptyContract } from "../domain/contract.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, toJsonText } from "../domain/json.ts";
import { redactedMark } from "../domain/redact.ts";
import type { Signal } from "../journal/journal.ts";
import type { SessionState } from "../journal/session-state.ts";
import { type CallState, choicesOf, isUnanswered, unansweredIn } from "../journal/waiting-call.ts";

const argumentLimits = { what: "the arguments", maxBytes: 256 * 1024, maxDepth: 50 };
const mostText = 64 * 1024;

/** The signal that approves a call. */
export async function approvalOf(
  state: SessionState,
  seq: number,
  args: JsonObject | undefined,
  note: string | undefined,
): Promise<Signal> {
  const call = waitingAt(state, seq);
  if (call.asks === "question")
    throw new InputInvalid(`${seq} is a question of ${call.persona}, which approval does not answer.`, {
      advice: advise("Answer it", "answer", state.id, String(seq), "..."),
    });
  if (args !== undefined) await refuseUnfit(call, args);
  return {
    action: "approve-call",
    call: call.seq,
    ...(args !== undefined && { arguments: args }),
    ...(note !== undefined && { note }),
  };
}

export async function rejectionOf(state: SessionState, seq: number, note: string): Promise<Signal> {
  refuseLong("note", note);
  return { action: "reject-call", call: waitingAt(state, seq).seq, note };
}

/** The signal that answers a question. If the question has choices, the answer must be one of them. */
export async function answerOf(state: SessionState, seq: number, text: string): Promise<Signal> {
  const call = waitingAt(state, seq);
  if (call.asks !== "question")
    throw new InputInvalid(`${seq} is a call of ${call.persona}, and not a question.`, {
      advice: [
        advise("Approve it", "approve", state.id, "--call", String(seq)),
        advise(
          "Or reject it and say why",
          "reject",
          state.id,
          "--call",
          String(seq),
          "--note",
          notePlaceholder,
        ),
      ],
    });
  if (typeof text !== "string" || text.trim() === "")
    throw new InputInvalid("An answer needs a text.", { advice: "Write what the persona should know." });
  refuseLong("answer", text);
  const choices = choicesOf(call);
  if (choices !== undefined && !choices.includes(text))
    throw new InputInvalid(`"${text.slice(0, 200)}" is not one of the choices.${didYouMean(text, choices)}`, {
      advice: `Choices: ${choices.join(", ")}.`,
    });
  return { action: "answer", call: call.seq, text };
}

function waitingAt(state: SessionState, seq: number): CallState {
  const { id, calls } = state;
  const call = calls.get(seq);
  if (call !== undefined && isUnanswered(call, state)) return call;
  const waiting = unansweredIn(state);
  const list = waiting.map((one) => `${one.seq} (${one.persona}, ${one.name})`).join(", ");
  throw new SessionConflict(whyNot(state, seq, call), {
    details: { session: id, waiting: waiting.map((one) => one.seq) },
    advice: waiting.length === 0 ? advise("See why", "show", id) : `Waiting: ${list}.`,
  });
}

function whyNot({ id }: SessionState, seq: number, call: CallState | undefined): string {
  if (call === undefined) return `Session ${id} has no call that waits at ${seq}.`;
  if (call.word !== undefined) return `Call ${seq} was ${call.word.kind} already.`;
  if (call.replacedBy !== undefined)
    return `Call ${seq} is outdated: ${call.persona} asked for another one since. A word is only about the call that was shown.`;
  return `Call ${seq} is outdated: the attempt that asked for it has ended.`;
}

/** Built-in tools are known here. Others are judged before the call is made. */
async function refuseUnfit(call: CallState, args: JsonObject): Promise<void> {
  if (!isJsonObject(args)) throw new InputInvalid("The arguments of a call are an object.");
  const text = toJsonText(args, argumentLimits);
  // The shown call has its secrets masked. A copied mask must not become an argument.
  if (text.includes(redactedMark) && !JSON.stringify(call.call).includes(redactedMark))
    throw new InputInvalid(
      `The arguments contain ${redactedMark}, which stands for a secret that is not shown.`,
      {
        advice: "Write the value, or approve the call as it is.",
      },
    );
  const [{ builtIn }, { isTool }] = await Promise.all([
    import("../personas/tools/offered-tool.ts"),
    import("../personas/tools/tool-table.ts"),
  ]);
  if (!isTool(call.name)) return;
  const judged = await builtIn(call.name, emptyContract).judge(args);
  if (!judged.success)
    throw new InputInvalid(`The arguments do not fit ${call.name}: ${judged.error.message}`, {
      advice: "The call still waits. Correct the arguments, or approve it as it is.",
    });
}

function refuseLong(what: string, text: string): void {
  if (text.length > mostText)
    throw new InputInvalid(`The ${what} has ${text.length} characters; at most ${mostText} are allowed.`);
}
