import { closest } from "../../domain/closest.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

export const simulatedModel = "simulated";

/** Whose models there are; a model is named `provider/model`. */
export const modelProviders = ["anthropic", "openai", "google", "openai-compatible"] as const;

/** Model names that people write without their provider. */
const makers: readonly (readonly [beginning: RegExp, provider: string])[] = [
  [/^claude/i, "anthropic"],
  [/^(?:gpt|chatgpt|o\d)/i, "openai"],
  [/^gemini/i, "google"],
];

const form = /^([^\s/]+)\/\S+$/;

/** The name, or a problem with the name that was probably meant. */
export function readModelName(value: unknown, place: Place): string | undefined {
  if (typeof value !== "string" || value.length > 200) {
    place.problem(`is ${shown(value)}; it must be provider/model, or "${simulatedModel}".`);
    return undefined;
  }
  if (value === simulatedModel) return value;
  const provider = form.exec(value)?.[1];
  if (provider === undefined) {
    place.problem(`is ${shown(value)}; it must be provider/model, or "${simulatedModel}".${guess(value)}`);
    return undefined;
  }
  if ((modelProviders as readonly string[]).includes(provider)) return value;
  const meant = closest(provider, modelProviders);
  const hint = meant === undefined ? "" : ` Did you mean "${meant}${value.slice(provider.length)}"?`;
  place.problem(
    `is ${shown(value)}, and there is no provider ${shown(provider)}; known: ${modelProviders.join(", ")}.${hint}`,
  );
  return undefined;
}

function guess(value: string): string {
  const maker = makers.find(([beginning]) => beginning.test(value) && !/[\s/]/.test(value));
  const meant = maker === undefined ? closest(value, [simulatedModel]) : `${maker[1]}/${value}`;
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}
