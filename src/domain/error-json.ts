import { type ErrorJson, thrownValueName } from "./error-to-json.ts";
import * as errors from "./errors.ts";

export { type ErrorJson, toErrorJson } from "./error-to-json.ts";

/** Maestro's errors are restored with their class. Any other becomes an `Error` with its own name. */
export function fromErrorJson(json: ErrorJson): Error {
  const error = restore(json);
  // Defined only if it differs, and not enumerable, like on the original error.
  if (error.name !== json.name) define(error, "name", json.name);
  return error;
}

function restore(json: ErrorJson): Error {
  const cause = json.cause === undefined ? undefined : fromErrorJson(json.cause);
  const name = json.details === undefined ? undefined : nameByCode.get(json.code);
  if (name !== undefined) {
    return new classes[name](json.message, {
      details: json.details,
      advice: json.actions ?? json.advice,
      cause,
    });
  }
  const options = cause === undefined ? undefined : { cause };
  const error =
    json.errors === undefined
      ? new Error(json.message, options)
      : new AggregateError(json.errors.map(fromErrorJson), json.message, options);
  if (json.code !== undefined) Object.assign(error, { code: json.code });
  if (json.name === thrownValueName) Object.assign(error, { thrown: json.thrown });
  return error;
}

// The type ensures that every row of the table has its exported class.
const classes: Readonly<
  Record<errors.ErrorName, new (message: string, options: errors.MaestroErrorOptions) => Error>
> = errors;

const nameByCode: ReadonlyMap<ErrorJson["code"], errors.ErrorName> = new Map(
  Object.entries(errors.errorTable).map(([name, [code]]) => [code, name as errors.ErrorName]),
);

const define = (error: Error, key: string, value: string): void => {
  Object.defineProperty(error, key, { value, configurable: true, writable: true });
};
