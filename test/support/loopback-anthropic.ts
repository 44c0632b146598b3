import { type Dialect, event, halves, type ModelTurn, usualUsage } from "./loopback-model-turn.ts";

const send = (type: string, data: object = {}): string => event({ type, ...data }, type);

const idOf = ({ id = "1" }: ModelTurn): string => `msg_${id}`;

const inputUsage = ({ usage = usualUsage }: ModelTurn) => ({
  // Anthropic counts cached tokens beside the input, not within it.
  input_tokens: usage.input - usage.cached - usage.cacheWrite,
  cache_read_input_tokens: usage.cached,
  cache_creation_input_tokens: usage.cacheWrite,
});

const stopReason = ({ calls = [], cutAtLimit }: ModelTurn): string =>
  cutAtLimit ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";

const blocksOf = ({ text, reasoning, calls = [] }: ModelTurn): Record<string, unknown>[] => [
  ...(reasoning === undefined ? [] : [{ type: "thinking", thinking: reasoning, signature: "c2lnbmVk" }]),
  ...(text === undefined ? [] : [{ type: "text", text }]),
  ...calls.map(({ id, tool, input }) => ({ type: "tool_use", id, name: tool, input })),
];

/** Anthropic's messages. */
export const anthropicMessages: Dialect = {
  path: /^\/v1\/messages$/,
  wantsStream: (_, { stream }) => stream === true,
  keyHeader: (key) => ["x-api-key", key],
  whole: (turn, model) => ({
    id: idOf(turn),
    type: "message",
    role: "assistant",
    model,
    content: blocksOf(turn),
    stop_reason: stopReason(turn),
    stop_sequence: null,
    usage: { ...inputUsage(turn), output_tokens: (turn.usage ?? usualUsage).output },
  }),
  stream: (turn, model) => [
    send("message_start", {
      message: {
        id: idOf(turn),
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...inputUsage(turn), output_tokens: 1 },
      },
    }),
    send("ping"),
    ...blocksOf(turn).flatMap((block, index) => [
      send("content_block_start", { index, content_block: begun(block) }),
      ...deltasOf(block).map((delta) => send("content_block_delta", { index, delta })),
      send("content_block_stop", { index }),
    ]),
    send("message_delta", {
      delta: { stop_reason: stopReason(turn), stop_sequence: null },
      usage: { output_tokens: (turn.usage ?? usualUsage).output },
    }),
    send("message_stop"),
  ],
  textEvent: (text) => send("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
  refusal: ({ message, code }) => ({ type: "error", error: { type: code, message } }),
  errorEvent: ({ message, code }) => send("error", { error: { type: code, message } }),
};

const begun = (block: Record<string, unknown>): Record<string, unknown> =>
  block["type"] === "text"
    ? { type: "text", text: "" }
    : block["type"] === "thinking"
      ? { type: "thinking", thinking: "", signature: "" }
      : { ...block, input: {} };

function deltasOf(block: Record<string, unknown>): object[] {
  if (block["type"] === "text")
    return halves(block["text"] as string).map((text) => ({ type: "text_delta", text }));
  if (block["type"] === "thinking")
    return [
      ...halves(block["thinking"] as string).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block["signature"] },
    ];
  const { input } = block;
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return halves(text).map((partial_json) => ({ type: "input_json_delta", partial_json }));
}
