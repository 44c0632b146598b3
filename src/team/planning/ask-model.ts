import type { DurableStep } from "../../domain/durable-step.ts";
import type { Environment } from "../../models/providers.ts";
import type { AskModel } from "./classify-with-model.ts";

/** A plan is worth no long wait: the rules are there at once. */
const patienceMs = 60_000;

/**
 * The model that the session will use, bounded as in a session. Nothing of the call is recorded but its answer, because
 * there is no session yet. Its packages are loaded when it is asked.
 */
export function askModel(name: string | undefined, env: Environment): AskModel {
  return async ({ instructions, prompt, maxOutputTokens }) => {
    const [{ resolveModel }, { durableModel }] = await Promise.all([
      import("../../models/providers.ts"),
      import("../../models/durable-model.ts"),
    ]);
    const resolved = await resolveModel(name, { env });
    const model = durableModel(resolved.model, {
      runStep: async <T>({ effect }: DurableStep<T>) => effect(),
      signal: AbortSignal.timeout(patienceMs),
      streamAlways: true,
      onWarning: () => {},
    });
    const { content, usage } = await model.doGenerate({
      prompt: [
        { role: "system", content: instructions },
        { role: "user", content: [{ type: "text", text: prompt }] },
      ],
      maxOutputTokens,
    });
    return {
      text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
      model: resolved.name,
      inputTokens: usage.inputTokens.total,
      outputTokens: usage.outputTokens.total,
    };
  };
}
