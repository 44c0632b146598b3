import { ConfigInvalid } from "../../domain/errors.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { missingOfModel } from "./model-object.ts";
import { isOptional } from "./optional-providers.ts";
import { isProvider } from "./provider-table.ts";
import type { AnyModel } from "./sdk-types.ts";

export const providerNameForm: RegExp = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** A name that a provider of Maestro has would send one provider's key to another. */
export function checkProviderName(name: string): string | undefined {
  if (!providerNameForm.test(name)) return "a name has lower-case letters, digits, - and _";
  return isProvider(name) || isOptional(name) || name === simulatedName
    ? "Maestro has a provider of this name"
    : undefined;
}

/** The members that Maestro calls. `what`: the subject of the error. */
export function checkModelObject(model: unknown, what: string): AnyModel {
  const missing = missingOfModel(model);
  if (missing.length === 0) return model as AnyModel;
  throw new ConfigInvalid(`${what} is not a language model of the AI SDK: ${missing.join(", ")} missing.`, {
    advice: 'Use the model object of a provider package, for example openai("gpt-5").',
    details: { missing },
  });
}
