import { type Dialect, event, halves, type ModelTurn, usualUsage } from "./loopback-model-turn.ts";

const usageOf = ({ usage = usualUsage }: ModelTurn) => ({
  promptTokenCount: usage.input,
  cachedContentTokenCount: usage.cached,
  // Google counts thoughts beside the candidates.
  candidatesTokenCount: usage.output - usage.reasoning,
  thoughtsTokenCount: usage.reasoning,
  totalTokenCount: usage.input + usage.output,
});

const finishOf = ({ cutAtLimit }: ModelTurn): string => (cutAtLimit ? "MAX_TOKENS" : "STOP");

const whole = (text: string): string[] => (text === "" ? [] : [text]);

const partsOf = (
  { text, reasoning, calls = [] }: ModelTurn,
  pieces: (text: string) => string[],
): object[] => [
  ...pieces(reasoning ?? "").map((piece) => ({ text: piece, thought: true })),
  ...pieces(text ?? "").map((piece) => ({ text: piece })),
  ...calls.map(({ tool, input }) => ({
    functionCall: { name: tool, args: input },
    thoughtSignature: "c2lnbmVk",
  })),
];

const chunk = (parts: readonly object[], model: string, more: object = {}) => ({
  candidates: [{ content: { parts, role: "model" }, index: 0, ...more }],
  modelVersion: model,
  responseId: "resp-1",
});

/** Google's generateContent. */
export const googleGenerate: Dialect = {
  path: /^\/v1beta\/models\/[^/]+:(?:stream)?[gG]enerateContent$/,
  wantsStream: (path) => path.endsWith(":streamGenerateContent"),
  keyHeader: (key) => ["x-goog-api-key", key],
  whole: (turn, model) => ({
    ...chunk(partsOf(turn, whole), model, { finishReason: finishOf(turn) }),
    usageMetadata: usageOf(turn),
  }),
  stream: (turn, model) => [
    ...partsOf(turn, halves).map((part) => event(chunk([part], model))),
    event({
      ...chunk([{ text: "" }], model, { finishReason: finishOf(turn) }),
      usageMetadata: usageOf(turn),
    }),
  ],
  textEvent: (text) => event(chunk([{ text }], "m")),
  refusal: ({ status, message, code }) => ({ error: { code: status, message, status: code } }),
  errorEvent: ({ status, message, code }) => event({ error: { code: status, message, status: code } }),
};
