import { expect, test } from "vitest";
import { withReadOptions } from "../../../src/personas/model/read-options.ts";
import type { CallOptions } from "../../../src/personas/model/sdk-types.ts";

/** The same options wherever a call may have some. */
function call(providerOptions: NonNullable<CallOptions["providerOptions"]> | undefined): CallOptions {
  const options = providerOptions === undefined ? {} : { providerOptions };
  const result = { type: "tool-result", toolCallId: "a", toolName: "t" } as const;
  return {
    ...options,
    tools: [{ type: "function", name: "t", inputSchema: { type: "object" }, ...options }],
    prompt: [
      { role: "system", content: "Be brief.", ...options },
      { role: "user", content: [{ type: "text", text: "Hello.", ...options }], ...options },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "a", toolName: "t", input: { providerOptions: { at: 1 } } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            ...result,
            output: { type: "content", value: [{ type: "text", text: "So.", ...options }] },
            ...options,
          },
          { ...result, output: { type: "text", value: "So.", ...options } },
        ],
      },
    ],
  };
}

test.each([
  ["openai.responses", "openai"],
  ["anthropic.messages", "anthropic"],
  ["google.generative-ai", "google"],
  ["google.vertex.chat", "googleVertex"],
  ["azure.responses", "openai"],
  ["amazon-bedrock", "bedrock"],
  ["amazon-bedrock", "anthropic"],
  ["openai-compatible.chat", "openaiCompatible"],
  ["my-servers.chat", "myServers"],
  ["my-servers.chat", "openaiCompatible"],
  ["my-openai.responses", "openai"],
  ["my-claude.messages", "anthropic"],
  ["openrouter", "anthropic"],
])("a call to %s keeps the options of %s and no others", (provider, key) => {
  const notes = { createdAt: 1_700_000_000_000 };
  const options = { [key]: { some: "option" } };
  expect(withReadOptions(provider, call({ ...options, mastra: notes }))).toEqual(call(options));
  expect(withReadOptions(provider, call({ mastra: notes }))).toEqual(call(undefined));
});

test("a provider that Maestro knows does not read the options of another one", () => {
  expect(withReadOptions("openai.chat", call({ anthropic: { at: 1 } }))).toEqual(call(undefined));
});

test("a call without options that are left out keeps its messages as they are", () => {
  const options = call({ openai: { store: false } });
  const { prompt } = withReadOptions("openai.responses", options);
  expect(prompt.map((message, index) => message === options.prompt[index])).toEqual([true, true, true, true]);
});
