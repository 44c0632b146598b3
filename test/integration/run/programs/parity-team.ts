import {
  defineTeam,
  durableModel,
  HelpNeeded,
  type PersonaContext,
  type PersonaFunction,
  persona,
  phase,
  RecoverableError,
  UnrecoverableError,
} from "../../../../src/index.ts";
import type { StreamPart } from "../../../../src/personas/model/sdk-types.ts";
import { answer, ask, ownModel } from "../own-models.ts";

const done = { summary: "done" };

const outage = () =>
  Object.assign(new Error("Service unavailable"), {
    statusCode: 503,
    responseHeaders: { "retry-after": "0" },
  });

/** Behaviors of a persona's function, by brief. Each is recorded alike wherever the function runs. */
export const behaviors = {
  results: async ({ step }) => {
    const date = await step("date", () => new Date(0));
    const nothing = await step("nothing", () => undefined);
    const list = await step("list", async () => [1, "two", null, { three: Number.NaN, left: undefined }]);
    const large = await step("large", () => "x".repeat(400_000));
    const escaped = await step("escaped", () => ({ "\n": 1, '"': "\\", é: "😀", __proto__: 1 }));
    const seen = [typeof date, typeof nothing, list, large.length, escaped];
    return { summary: "done", outputs: { seen: JSON.stringify(seen) }, decisions: [] };
  },
  inputs: async ({ step }) => {
    const one = await step("same", () => 1, { input: { b: 1, a: [2] } });
    const two = await step("same", () => 2, { input: { a: [2], b: 1 } });
    const three = await step("same", () => 3, { input: "other", dependency: "api.example.org" });
    const refused = await step("map", () => 4, { input: new Map() as never }).catch(String);
    const unnamed = await step("", () => 5).catch(String);
    return { summary: "done", outputs: { one, two, three, refused, unnamed } };
  },
  parallel: async ({ step }) => {
    const all = await Promise.all([1, 2, 3].map((number) => step("many", () => number)));
    void step("unawaited", () => "recorded too");
    return { summary: "done", outputs: { all } };
  },
  nested: async ({ step }) => {
    const sum = await step("outer", async () => (await step("inner", () => 1)) + 1);
    return { summary: "done", outputs: { sum } };
  },
  files: async ({ step, workspace }) => {
    await workspace.write("before.txt", "before");
    await step("write", async () => {
      await workspace.write("bytes.bin", new Uint8Array([0, 255, 10]), { executable: true });
      await workspace.write("text.txt", "one\ntwo\n");
      await workspace.edit("text.txt", [{ find: "two", replace: "three" }]);
    });
    const failed = await step("undone", async () => {
      await workspace.write("undone.txt", "undone");
      throw new RecoverableError("undo this");
    }).catch(String);
    void workspace.write("unawaited.txt", "there at once");
    const listed = workspace.list();
    const removed = workspace.remove("before.txt");
    const [bytes, text, found] = [
      [...(await workspace.read("bytes.bin"))],
      await workspace.readText("text.txt"),
      await workspace.search("three", "*.txt"),
    ];
    await removed;
    const missing = await workspace.readText("missing.txt").catch(String);
    const outputs = { failed, listed, bytes, text, found: found.map(({ line }) => line), missing };
    return { summary: "done", outputs: { ...outputs, left: workspace.list("*.txt") } };
  },
  lateChange: async ({ step, workspace }) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    await step("ends early", () => {
      const late = () => workspace.write("late.txt", "late").then(() => "written", String);
      setTimeout(() => resolve(late()), 20);
    });
    return { summary: await promise };
  },
  context: async ({ brief, context, notes, putBack, failures, log, sleep }) => {
    log("said");
    await sleep(1);
    const wrong = String(await sleep(Number.NaN).catch(String));
    if (failures.length === 0) throw new RecoverableError("first", { details: { a: 1 }, cause: outage() });
    const [{ name, message, cause } = new Error("none")] = failures;
    const seen = {
      name,
      message,
      cause: String(cause),
      phase: context.phase,
      results: JSON.stringify(context.results),
    };
    return { summary: brief, outputs: { seen, notes: [...notes], putBack: putBack.length, wrong } };
  },
  outage: ({ step }) => step("call", () => Promise.reject(outage())),
  named: ({ step }) =>
    step("call", () => Promise.reject(new Error("503 Service Unavailable")), {
      dependency: "api.example.org",
    }),
  wrapped: async ({ step }) => {
    await step("call", () => Promise.reject(outage())).catch((cause: unknown) => {
      throw new UnrecoverableError("gave up", { cause });
    });
    return done;
  },
  system: async () => {
    throw Object.assign(new Error("connect ECONNRESET"), { code: "ECONNRESET", syscall: "connect" });
  },
  types: async () => (undefined as unknown as { readonly x: { readonly y: never } }).x.y,
  aggregate: async () => {
    throw new AggregateError([new TypeError("a"), new Error("b")], "several");
  },
  value: async () => {
    // oxlint-disable-next-line no-throw-literal
    throw { statusCode: 429, message: "a value" };
  },
  help: async () => {
    throw new HelpNeeded("a person must decide", { advice: "Decide.", details: { options: ["a", "b"] } });
  },
  unserializable: ({ step }) => step("map", () => new Map([[1, 2]])) as never,
  wrongReturn: async () => ({ summary: "done", output: 1 }) as never,
  noReturn: async () => undefined as never,
  ownModel: async (context: PersonaContext) => {
    const model = ownModel(async () => answer(6_000, 5));
    const first = await ask(model, context, "first");
    const again = await ask(model, context, "second");
    return { summary: "done", outputs: { answers: JSON.stringify([first.content, again.usage]) } };
  },
  ownModelStreams: async (context: PersonaContext) => {
    const { finishReason, usage } = answer(6_000, 5);
    const doStream = async () => ({
      stream: ReadableStream.from<StreamPart>([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "hi" },
        { type: "text-end", id: "1" },
        { type: "finish", finishReason, usage },
      ]),
    });
    const model = { ...ownModel(async () => answer(1, 1)), doStream };
    const prompt = [{ role: "user", content: [{ type: "text", text: "first" }] }];
    const streamed = await durableModel(model, context).doStream({ maxOutputTokens: 10, prompt });
    const parts: string[] = [];
    for await (const { type } of streamed.stream as ReadableStream<StreamPart>) parts.push(type);
    return { summary: "done", outputs: { parts } };
  },
  ownModelFails: async (context: PersonaContext) => {
    await ask(
      ownModel(() => Promise.reject(outage())),
      context,
      "first",
    );
    return done;
  },
} satisfies Record<string, PersonaFunction>;

export default defineTeam("parity", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: (context) => (behaviors as Record<string, PersonaFunction>)[context.brief]?.(context) ?? done,
        }),
      ],
    }),
  ],
});
