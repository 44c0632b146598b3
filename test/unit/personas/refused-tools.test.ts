import { afterEach, expect, test } from "vitest";
import { HelpNeeded } from "../../../src/domain/errors.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { closeServers, question, type WireModel, wire } from "./wire-place.ts";

afterEach(closeServers);

const tools = ["read_file", "github_create", "submit"].map((name) => ({
  type: "function" as const,
  name,
  description: name,
  inputSchema: { type: "object" as const, properties: {} },
}));

/** The error that comes of a call with these tools, when the provider refuses it with this message. */
async function refused(model: WireModel, status: number, code: string, message: string): Promise<unknown> {
  const { model: durable } = await wire(model, [{ fault: "refuse", status, code, message }]);
  const called = Promise.resolve(durable.doGenerate({ ...question(), tools }));
  return called.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each<[WireModel, string, string]>([
  [
    "anthropic/claude-sonnet-4-5",
    "invalid_request_error",
    "tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12.",
  ],
  [
    "openai/gpt-5",
    "invalid_function_parameters",
    "Invalid schema for function 'github_create': In context=('properties', 'labels'), array schema missing items.",
  ],
  [
    "google/gemini-2.5-pro",
    "INVALID_ARGUMENT",
    "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[labels].items: missing field.",
  ],
  [
    "openai-compatible/llama-3.3-70b",
    "invalid_request_error",
    "Invalid 'tools[1].function.name': string does not match pattern.",
  ],
])(
  "a schema that %s refuses names its tool, and the call is not tried again",
  async (model, code, message) => {
    const error = await refused(model, 400, code, message);
    expect(error).toBeInstanceOf(HelpNeeded);
    expect((error as HelpNeeded).message).toContain(`${model} refuses the tool github_create: `);
    expect((error as HelpNeeded).message).toContain(message);
    expect((error as HelpNeeded).advice).toContain("leave it out of the persona's tools");
    expect(classifyError(error)).toMatchObject({ recoverable: false, outage: false });
  },
);

test.each([
  [400, "messages.3.content.0: unexpected tool_use_id found in tool_result blocks: read_file"],
  [400, "Invalid 'messages[2].tool_calls[0].function.name': string too long."],
  [400, "temperature: Input should be less than or equal to 1"],
  [500, "tools.1.custom.input_schema: JSON schema is invalid."],
])("status %i with %j is about no tool", async (status, message) => {
  const error = await refused("anthropic/claude-sonnet-4-5", status, "invalid_request_error", message);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(HelpNeeded);
});
