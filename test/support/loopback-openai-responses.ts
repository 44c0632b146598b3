import { type Dialect, event, halves, type ModelTurn, usualUsage } from "./loopback-model-turn.ts";

const usageOf = ({ usage = usualUsage }: ModelTurn) => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cached },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

/** The completed items of an answer. */
function itemsOf({ text, reasoning, calls = [] }: ModelTurn): Record<string, unknown>[] {
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: "reasoning",
            id: "rs_1",
            encrypted_content: "c2VjcmV0",
            summary: [{ type: "summary_text", text: reasoning }],
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: "message",
            id: "msg_1",
            status: "completed",
            role: "assistant",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]),
    ...calls.map(({ id, tool, input }, index) => ({
      type: "function_call",
      id: `fc_${index}`,
      call_id: id,
      name: tool,
      status: "completed",
      arguments: typeof input === "string" ? input : JSON.stringify(input),
    })),
  ];
}

const ended = (turn: ModelTurn) =>
  turn.cutAtLimit
    ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    : { status: "completed", incomplete_details: null };

const about = (model: string, { id = "1" }: ModelTurn) => ({
  id: `resp_${id}`,
  object: "response",
  created_at: 1_700_000_000,
  model,
});

/** OpenAI's responses. */
export const openaiResponses: Dialect = {
  path: /^\/v1\/responses$/,
  wantsStream: (_, { stream }) => stream === true,
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  whole: (turn, model) => ({
    ...about(model, turn),
    ...ended(turn),
    error: null,
    output: itemsOf(turn),
    usage: usageOf(turn),
  }),
  stream: (turn, model) => {
    let sequence_number = 0;
    const send = (type: string, data: object) => {
      sequence_number += 1;
      return event({ type, sequence_number, ...data }, type);
    };
    const items = itemsOf(turn).flatMap((item, output_index) => itemEvents(send, item, output_index));
    const last = turn.cutAtLimit ? "response.incomplete" : "response.completed";
    return [
      send("response.created", { response: { ...about(model, turn), status: "in_progress", output: [] } }),
      send("response.in_progress", {
        response: { ...about(model, turn), status: "in_progress", output: [] },
      }),
      ...items,
      send(last, {
        response: { ...about(model, turn), output: itemsOf(turn), ...ended(turn), usage: usageOf(turn) },
      }),
    ];
  },
  textEvent: (delta) =>
    event({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta }),
  refusal: ({ message, code }) => ({ error: { message, type: code, param: null, code } }),
  errorEvent: ({ message, code }) =>
    event({ type: "error", sequence_number: 9, error: { type: code, code, message, param: null } }),
};

type Send = (type: string, data: object) => string;

function itemEvents(send: Send, item: Record<string, unknown>, output_index: number): string[] {
  const { id: item_id } = item;
  const begun = { ...item, status: "in_progress", content: [], summary: [], arguments: "" };
  return [
    send("response.output_item.added", { output_index, item: begun }),
    ...piecesOf(send, item, { item_id, output_index }),
    send("response.output_item.done", { output_index, item }),
  ];
}

function piecesOf(send: Send, item: Record<string, unknown>, at: object): string[] {
  if (item["type"] === "function_call") {
    return halves(item["arguments"] as string).map((delta) =>
      send("response.function_call_arguments.delta", { ...at, delta }),
    );
  }
  if (item["type"] === "message") {
    const [{ text } = { text: "" }] = item["content"] as { text: string }[];
    return halves(text).map((delta) =>
      send("response.output_text.delta", { ...at, content_index: 0, delta }),
    );
  }
  const [{ text } = { text: "" }] = item["summary"] as { text: string }[];
  const part = { type: "summary_text", text: "" };
  return [
    send("response.reasoning_summary_part.added", { ...at, summary_index: 0, part }),
    ...halves(text).map((delta) =>
      send("response.reasoning_summary_text.delta", { ...at, summary_index: 0, delta }),
    ),
    send("response.reasoning_summary_part.done", { ...at, summary_index: 0, part: { ...part, text } }),
  ];
}
