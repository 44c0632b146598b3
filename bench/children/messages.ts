// A conversation with a model that answers at once: the cost of a call, and the part of it that stores messages.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { canonicalCall } from "../../src/personas/model/canonical-call.ts";
import type { CallOptions, Model } from "../../src/personas/model/sdk-types.ts";
import { SentCalls } from "../../src/run/sent-calls.ts";
import { Artifacts } from "../../src/store/artifacts.ts";
import { report } from "../child.ts";
import { defineTeam, durableModel, persona, phase } from "../maestro.ts";
import type { Conversation } from "../measure-messages.ts";
import { answer, openState } from "../workload.ts";

const [stateDir = "", blobDir = "", ...numbers] = process.argv.slice(2);
const [calls = 50, bytes = 1_024] = numbers.map(Number);

const text = (tag: string): string =>
  Array.from({ length: bytes / 1_024 }, (_, part) => answer(`${tag} ${part}`)).join("");

const prompts: CallOptions["prompt"][] = [];
const prompt: CallOptions["prompt"] = [{ role: "system", content: text("system") }];
for (let call = 0; call < calls; call += 1) {
  prompt.push({ role: "user", content: [{ type: "text", text: text(`question ${call}`) }] });
  prompts.push([...prompt]);
  prompt.push({ role: "assistant", content: [{ type: "text", text: text(`answer ${call}`) }] });
}

const model: Model = {
  specificationVersion: "v4",
  provider: "bench",
  modelId: "answers-at-once",
  supportedUrls: {},
  doGenerate: async () => ({
    content: [{ type: "text", text: text("answer") }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: 100_000, noCache: 100_000, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 10_000, text: 10_000, reasoning: 0 },
    },
    warnings: [],
  }),
  doStream: () => Promise.reject(new Error("not streamed here")),
};

let callMs = 0;
const worker = persona("worker", {
  run: async (ctx) => {
    const durable = durableModel(model, ctx);
    const began = performance.now();
    for (const messages of prompts) await durable.doGenerate({ prompt: messages, maxOutputTokens: 10_000 });
    callMs = (performance.now() - began) / calls;
    return { summary: "done" };
  },
});
const team = defineTeam("messages", { phases: [phase("work", { personas: [worker] })] });
const maestro = await openState(stateDir, team);
await (await maestro.start(team, { brief: "talk" })).result();
await maestro.close();

const artifacts = new Artifacts(blobDir);
const sent = new SentCalls((text) => artifacts.put(text));
let rowBytes = 0;
const began = performance.now();
for (const [call, messages] of prompts.entries()) {
  const input = canonicalCall("bench/answers-at-once", { prompt: messages, maxOutputTokens: 10_000 });
  const sending = await sent.send({ input });
  rowBytes += sending.sent.length;
  sent.recorded(`${call}`, sending, "{}");
}
const storingMs = (performance.now() - began) / calls;
report({
  callMs,
  storingMs,
  callBytes: bytesIn(stateDir) / calls,
  storedBytes: (rowBytes + bytesIn(blobDir)) / calls,
} satisfies Conversation);

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
