import { providerNameForm } from "../../personas/model/own-providers.ts";
import { object, optional, section, type Values } from "./fields.ts";
import { type Kind, wholeNumber } from "./kinds.ts";
import { meantProvider } from "./model-name.ts";
import { shown } from "./shown.ts";

const most = 1_000_000_000;

export const rateSection = section({
  name: "limits",
  sentence:
    "What one provider admits in a minute. Calls of all sessions and processes of a state directory count; a call too many waits.",
  allowed: "an object with requestsPerMinute, tokensPerMinute or both",
  schema: { minProperties: 1 },
  hints: {
    requests: "Write requestsPerMinute instead.",
    tokens: "Write tokensPerMinute instead.",
    rpm: "Write requestsPerMinute instead.",
    tpm: "Write tokensPerMinute instead.",
  },
  keys: {
    requestsPerMinute: optional(wholeNumber(1, most), {
      sentence: "Requests, repeated ones included.",
      example: 50,
      otherwise: "no limit",
    }),
    tokensPerMinute: optional(wholeNumber(1, most), {
      sentence: "Input and output tokens. A call counts as it was reserved until its usage is known.",
      example: 400_000,
      otherwise: "no limit",
    }),
  },
});

export type RateDefinition = Values<typeof rateSection.keys>;

const one = object(rateSection);

/** Limits by the name of the provider. */
export const providerLimits: Kind<Readonly<Record<string, RateDefinition>>> = {
  allowed: "an object of limits by the name of a provider",
  schema: {
    type: "object",
    propertyNames: { type: "string", pattern: providerNameForm.source },
    additionalProperties: one.schema,
    maxProperties: 50,
  },
  read: (value, place) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      place.problem(`is ${shown(value)}; it must be an object of limits by the name of a provider.`);
      return undefined;
    }
    const limits = Object.entries(value).flatMap(([name, written]): [string, RateDefinition][] => {
      const at = place.at(name);
      if (!providerNameForm.test(name))
        at.problem(
          "is no name of a provider: the part of a model before the slash, such as anthropic.",
          "key",
        );
      const meant = meantProvider(name);
      if (meant !== undefined)
        at.problem(`limits no provider: there is no ${shown(name)}. Did you mean "${meant}"?`, "key");
      const limit = one.read(written, at);
      if (limit === undefined) return [];
      if (Object.keys(limit).length === 0) at.problem("needs requestsPerMinute, tokensPerMinute or both.");
      return [[name, limit]];
    });
    return Object.fromEntries(limits.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  },
};
