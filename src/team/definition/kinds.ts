import { isName, nameRule } from "../../domain/names.ts";
import { type ToolName, toolNames } from "./team-definition.ts";

/** What values a key takes, in words and in code. */
export interface Kind<T> {
  readonly allowed: string;
  /** `undefined` when the value is not allowed. */
  readonly read: (value: unknown) => T | undefined;
}

export function text(maxBytes: number): Kind<string> {
  return {
    allowed: `a text of at most ${maxBytes} bytes that is not empty`,
    read: (value) =>
      typeof value === "string" &&
      value.trim() !== "" &&
      !value.includes("\0") &&
      Buffer.byteLength(value) <= maxBytes
        ? value
        : undefined,
  };
}

export function wholeNumber(least: number, most: number): Kind<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    read: (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
        ? value
        : undefined,
  };
}

export function numberBetween(least: number, most: number, allowed?: string): Kind<number> {
  return {
    allowed: allowed ?? `a number from ${least} to ${most}`,
    // NaN is in no order with anything, so that it is refused here as well.
    read: (value) => (typeof value === "number" && value >= least && value <= most ? value : undefined),
  };
}

export const yesOrNo: Kind<boolean> = {
  allowed: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

export const onOrOff: Kind<boolean> = {
  allowed: "on or off",
  read: (value) =>
    typeof value === "boolean" ? value : value === "on" ? true : value === "off" ? false : undefined,
};

export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    allowed: words.map((word) => `"${word}"`).join(" or "),
    read: (value) => words.find((word) => word === value),
  };
}

export const name: Kind<string> = {
  allowed: `a name. ${nameRule}`.replace(/\.$/, ""),
  read: (value) => (typeof value === "string" && isName(value) ? value : undefined),
};

/** A word that something else must know; whether it does is judged later, with the closest one. */
export const word = (allowed: string): Kind<string> => ({
  allowed,
  read: (value) => (typeof value === "string" && value !== "" ? value : undefined),
});

export const toolName: Kind<ToolName> = {
  allowed: `one of ${toolNames.join(", ")}`,
  read: (value) => toolNames.find((tool) => tool === value),
};

/** Inside the workspace by its spelling; symlinks are the workspace's business. */
export const glob: Kind<string> = {
  allowed: "a relative path or glob that stays inside the workspace",
  read: (value) =>
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= 1_000 &&
    !/^[/\\]|^[A-Za-z]:|[\0\n\r]/.test(value) &&
    !value.split(/[/\\]/).includes("..")
      ? value.replace(/^(?:\.\/+)+/, "")
      : undefined,
};

const maxArgumentLength = 32_768;

export const commandArgument: Kind<string> = {
  allowed: `a text of at most ${maxArgumentLength} characters`,
  read: (value) =>
    typeof value === "string" && value.length <= maxArgumentLength && !value.includes("\0")
      ? value
      : undefined,
};
