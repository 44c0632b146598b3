import type { Advice } from "./advice.ts";
import { BoundedJson, isError, readProperty } from "./bounded-json.ts";
import type { Json, JsonObject } from "./json-value.ts";

/** A marker instead of `instanceof`, so that two copies of the package recognize each other's errors. */
export const errorMarker: unique symbol = Symbol.for("maestro.error") as never;

export type ErrorJson = {
  readonly name: string;
  readonly message: string;
  /** A Maestro code, Node's (`ECONNRESET`), or a number (the exit code of a command). */
  readonly code?: string | number;
  /** Always set for Maestro's own errors and never for others, which distinguishes them. */
  readonly details?: JsonObject;
  readonly advice?: string;
  /** The advice as data, if a command is part of it. */
  readonly actions?: readonly Advice[];
  readonly cause?: ErrorJson;
  readonly errors?: readonly ErrorJson[];
  /** The thrown value, if it was not an error. */
  readonly thrown?: Json;
};

export const thrownValueName = "ThrownValue";

const maxErrorDepth = 8;

/** Never throws. Omits stacks, because machine paths must not reach the journal. */
export function toErrorJson(thrown: unknown): ErrorJson {
  const bounded = new BoundedJson((error) => write(error));
  let errorDepth = 0;

  function write(thrown: unknown): ErrorJson {
    if (!isError(thrown)) return writeThrownValue(thrown);
    if (errorDepth >= maxErrorDepth) return { name: "Error", message: "[too deep]" };
    errorDepth += 1;
    const json = bounded.nested<ErrorJson>(
      thrown,
      (mark) => ({ name: "Error", message: mark }),
      () => writeError(thrown),
    );
    errorDepth -= 1;
    return json;
  }

  function writeError(error: Error): ErrorJson {
    const marked = isMarked(error);
    const name = readProperty(error, "name");
    const message = readProperty(error, "message");
    const code = readProperty(error, "code");
    const details = readProperty(error, "details");
    const advice = readProperty(error, "advice");
    const actions = marked ? actionsIn(readProperty(error, "actions")) : [];
    const cause = readProperty(error, "cause");
    const errors = readProperty(error, "errors");
    const value = readProperty(error, "thrown");
    return {
      name: bounded.text(typeof name === "string" ? name : "Error"),
      message: bounded.text(typeof message === "string" ? message : ""),
      ...(typeof code === "string" && { code: bounded.text(code) }),
      ...(typeof code === "number" && Number.isFinite(code) && { code }),
      ...(marked && {
        details: bounded.members(typeof details === "object" && details !== null ? details : {}),
      }),
      ...(marked && typeof advice === "string" && { advice: bounded.text(advice) }),
      ...(actions.length > 0 && {
        actions: actions.map(({ text, command }) => ({
          text: bounded.text(text),
          command: command?.map((word) => bounded.text(word)) ?? null,
        })),
      }),
      ...(cause !== undefined && { cause: write(cause) }),
      ...(Array.isArray(errors) && { errors: bounded.take(errors).map(write) }),
      ...(name === thrownValueName && { thrown: bounded.value(value) ?? null }),
    };
  }

  function writeThrownValue(thrown: unknown): ErrorJson {
    const value = bounded.value(thrown);
    const shown = value === undefined ? typeof thrown : JSON.stringify(value);
    const message = bounded.text(`something that is not an error was thrown: ${shown}`);
    return { name: thrownValueName, message, thrown: value ?? null };
  }

  return write(thrown);
}

/** Omitted if no action has a command, because the text is then complete. */
function actionsIn(actions: unknown): readonly Advice[] {
  const known = Array.isArray(actions) ? (actions as readonly Advice[]) : [];
  return known.some(({ command }) => command !== null) ? known : [];
}

const isMarked = (error: object): boolean => {
  try {
    return errorMarker in error;
  } catch {
    return false;
  }
};
