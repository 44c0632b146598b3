import { type DurableModelOptions, durableModel } from "../../../src/personas/model/durable-model.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import type { CallOptions, Model } from "../../../src/personas/model/sdk-types.ts";
import { LoopbackModels, type Reaction } from "../../support/loopback-models.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";

/** One model per protocol. */
export const wireModels = [
  "anthropic/claude-sonnet-4-5",
  "openai/gpt-5",
  "google/gemini-2.5-pro",
  "openai-compatible/llama-3.3-70b",
] as const;
export type WireModel = (typeof wireModels)[number];

export interface Wire {
  readonly server: LoopbackModels;
  readonly steps: RecordingSteps;
  readonly model: Model;
  readonly name: string;
}

const servers: LoopbackModels[] = [];

export async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

/** A durable model of a real provider package that talks to a server of ours. */
export async function wire(
  name: WireModel,
  script: readonly Reaction[],
  more: Partial<DurableModelOptions> = {},
): Promise<Wire> {
  const server = await LoopbackModels.start(script);
  servers.push(server);
  const resolved = await resolveModel(name, { env: server.env });
  const steps = new RecordingSteps();
  const model = durableModel(resolved.model, { runStep: steps.runStep, streamAlways: true, ...more });
  return { server, steps, model, name: resolved.name };
}

export const question = (text = "Say hello."): CallOptions => ({
  prompt: [
    { role: "system", content: "You are short." },
    { role: "user", content: [{ type: "text", text }] },
  ],
});
