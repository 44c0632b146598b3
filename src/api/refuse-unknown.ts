import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";

export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** For callers without type checks: an ignored option can cost money. */
export function refuseUnknown(what: string, options: unknown, known: Readonly<Record<string, true>>): void {
  const names = Object.keys(known);
  const advice = `Use: ${names.join(", ")}`;
  if (typeof options !== "object" || options === null)
    throw new InputInvalid(`${what} takes an object of options, not ${String(options)}.`, { advice });
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    throw new InputInvalid(`${what} has no option "${name}".${didYouMean(name, names)}`, {
      advice,
      details: { option: name },
    });
  }
}
