import { type Dialect, event, halves, type ModelTurn, usualUsage } from "./loopback-model-turn.ts";

const usageOf = ({ usage = usualUsage }: ModelTurn) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

const finishOf = ({ calls = [], cutAtLimit, finish }: ModelTurn): string =>
  finish ?? (cutAtLimit ? "length" : calls.length > 0 ? "tool_calls" : "stop");

const toolCalls = ({ calls = [] }: ModelTurn) =>
  calls.map(({ id, tool, input }) => ({
    id,
    type: "function",
    function: { name: tool, arguments: typeof input === "string" ? input : JSON.stringify(input) },
  }));

/** Where a stream reports the usage: most servers have an event of its own for it. */
type UsagePlace = "own event" | "last choice" | "x_groq";

const usagePlace = (model: string): UsagePlace =>
  model.startsWith("mistral") ? "last choice" : model.endsWith("-versatile") ? "x_groq" : "own event";

/** Chat completions of OpenAI and compatible servers. */
export const openaiChat: Dialect = {
  path: /^\/v1\/chat\/completions$/,
  wantsStream: (_, { stream }) => stream === true,
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  whole: (turn, model) => ({
    id: `chatcmpl-${turn.id ?? "1"}`,
    object: "chat.completion",
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: turn.text ?? null,
          ...(turn.reasoning !== undefined && { reasoning_content: turn.reasoning }),
          ...(turn.calls && { tool_calls: toolCalls(turn) }),
        },
        finish_reason: finishOf(turn),
      },
    ],
    usage: usageOf(turn),
  }),
  stream: (turn, model) => {
    const id = `chatcmpl-${turn.id ?? "1"}`;
    const about = { id, object: "chat.completion.chunk", created: 1_700_000_000, model };
    const chunk = (delta: unknown, finish: string | null = null, more: object = {}) =>
      event({ ...about, choices: [{ index: 0, delta, finish_reason: finish }], ...more });
    const usage = usageOf(turn);
    const ends = {
      "own event": () => [chunk({}, finishOf(turn)), event({ ...about, choices: [], usage })],
      "last choice": () => [chunk({}, finishOf(turn), { usage })],
      x_groq: () => [chunk({}, finishOf(turn), { x_groq: { id: "req_1", usage } })],
    };
    return [
      chunk({ role: "assistant", content: "" }),
      ...halves(turn.reasoning ?? "").map((reasoning_content) => chunk({ reasoning_content })),
      ...halves(turn.text ?? "").map((content) => chunk({ content })),
      ...toolCalls(turn).flatMap(({ id, type, function: { name, arguments: text } }, index) => [
        chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] }),
        ...halves(text).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      ...ends[usagePlace(model)](),
      "data: [DONE]\n\n",
    ];
  },
  textEvent: (content) =>
    event({
      id: "chatcmpl-1",
      created: 1_700_000_000,
      model: "m",
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    }),
  refusal: ({ message, code }) => ({ error: { message, type: code, param: null, code } }),
  errorEvent: ({ message, code }) => event({ error: { message, type: code, code } }),
};
