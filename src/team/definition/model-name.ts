import { closest } from "../../domain/closest.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { isOptional, optionalNames } from "../../personas/model/optional-providers.ts";
import { isProvider, knownProviders, ownerOf } from "../../personas/model/provider-table.ts";
import type { Kind } from "./kinds.ts";
import { shown } from "./shown.ts";

const form = /^([^\s/]+)\/\S+$/;
const maxLength = 200;
const allowed = `provider/model, or "${simulatedName}"`;

/** Errors name the model that was probably meant. */
export const modelName: Kind<string> = {
  allowed,
  schema: {
    type: "string",
    pattern: `^(?:${simulatedName}|[^\\s/]+/\\S+)$`,
    maxLength,
  },
  read: (value, place) => {
    if (typeof value !== "string" || value.length > maxLength) {
      place.problem(`is ${shown(value)}; it must be ${allowed}.`);
      return undefined;
    }
    if (value === simulatedName) return value;
    const provider = form.exec(value)?.[1];
    if (provider === undefined) {
      place.problem(`is ${shown(value)}; it must be ${allowed}.${guess(value)}`);
      return undefined;
    }
    if (isProvider(provider) || isOptional(provider)) return value;
    const known = [...knownProviders, ...optionalNames];
    const meant = closest(provider, known);
    // Any other name may be a provider of the program or of the configuration: the model is looked for before it is used.
    if (meant === undefined) return value;
    place.problem(
      `is ${shown(value)}, and there is no provider ${shown(provider)}; known: ${known.join(", ")}. Did you mean "${meant}${value.slice(provider.length)}"?`,
    );
    return undefined;
  },
};

function guess(value: string): string {
  const owner = /[\s/]/.test(value) ? undefined : ownerOf(value);
  const meant = owner === undefined ? closest(value, [simulatedName]) : `${owner}/${value}`;
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}
