import { closest } from "../../domain/closest.ts";
import { simulatedName } from "../../domain/simulated.ts";
import {
  isModelObject,
  type LanguageModelObject,
  missingOfModel,
  modelName as nameOfModel,
} from "../../personas/model/model-object.ts";
import { isOptional, optionalNames } from "../../personas/model/optional-providers.ts";
import { isProvider, knownProviders, ownerOf } from "../../personas/model/provider-table.ts";
import type { Kind } from "./kinds.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

const form = /^([^\s/]+)\/\S+$/;
const maxLength = 200;
const allowed = `provider/model, or "${simulatedName}"`;

/** Errors suggest the model that was probably meant. Code may give a model object, which is recorded by its name. */
export const modelName: Kind<string, string | LanguageModelObject> = {
  allowed,
  schema: {
    type: "string",
    pattern: `^(?:${simulatedName}|[^\\s/]+/\\S+)$`,
    maxLength,
  },
  read: (value, place) => {
    if (typeof value === "object" && value !== null && "modelId" in value) return readObject(value, place);
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
    const meant = meantProvider(provider);
    if (meant === undefined) return value;
    place.problem(
      `is ${shown(value)}, and there is no provider ${shown(provider)}; known: ${known().join(", ")}. Did you mean "${meant}${value.slice(provider.length)}"?`,
    );
    return undefined;
  },
};

const known = (): readonly string[] => [...knownProviders, ...optionalNames];

/**
 * The provider whose name was probably misspelled. Any other name may be a provider of the program or the configuration,
 * which is looked up before use.
 */
export const meantProvider = (name: string): string | undefined =>
  isProvider(name) || isOptional(name) ? undefined : closest(name, known());

function readObject(value: object, place: Place): string | undefined {
  if (!isModelObject(value)) {
    place.problem(`is no language model of the AI SDK: ${missingOfModel(value).join(", ")} missing.`);
    return undefined;
  }
  const name = nameOfModel(value);
  if (form.test(name) && name.length <= maxLength) return name;
  place.problem(
    `is a model object, and its provider and modelId make no name like provider/model: ${shown(name)}.`,
  );
  return undefined;
}

/** The form that the definition records. */
export const writtenModelName = (written: unknown): unknown =>
  isModelObject(written) ? nameOfModel(written) : written;

function guess(value: string): string {
  const owner = /[\s/]/.test(value) ? undefined : ownerOf(value);
  const meant = owner === undefined ? closest(value, [simulatedName]) : `${owner}/${value}`;
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}
