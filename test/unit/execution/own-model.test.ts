import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { durableModel } from "../../../src/execution/own-model.ts";
import { InputInvalid, type PersonaContext } from "../../../src/index.ts";

const model = {
  specificationVersion: "v4" as const,
  provider: "somebody.chat",
  modelId: "large",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("not asked here")),
  doStream: () => Promise.reject(new Error("not asked here")),
};

test("a durable model without the context of a running persona is refused at once, with the way to do it", () => {
  const made = () => durableModel(model, {} as PersonaContext);
  expect(made).toThrow(InputInvalid);
  expect(made).toThrow(/context of a running persona/);
  expect(() => durableModel("gpt-5" as never, {} as PersonaContext)).toThrow(/not from its name/);
});

test("importing the library loads neither the AI SDK nor a provider", () => {
  const index = new URL("../../../src/index.ts", import.meta.url).href;
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({
      load(url, context, next) {
        loaded.push(url);
        return next(url, context);
      },
    });
    const { durableModel } = await import(${JSON.stringify(index)});
    console.log(JSON.stringify({ kind: typeof durableModel, loaded }));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const { kind, loaded } = JSON.parse(output) as { kind: string; loaded: string[] };
  expect(kind).toBe("function");
  expect(loaded.some((url) => url.endsWith("/src/execution/own-model.ts"))).toBe(true);
  expect(loaded.filter((url) => /\/node_modules\/(?:ai|@ai-sdk|zod)\//.test(url))).toEqual([]);
});
