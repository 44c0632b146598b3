import { TeamInvalid } from "../../domain/errors.ts";

/** Enough to understand the problem. The details contain all of them. */
const listed = 20;

/** One error for all problems. `what`: "Team "x"" or "The team file x.yaml". */
export function teamInvalid(
  what: string,
  problems: readonly string[],
  { count = problems.length, ...details }: { readonly count?: number; readonly [detail: string]: unknown },
): TeamInvalid {
  const [only] = problems;
  const rest = count > listed ? [`and ${count - listed} more`] : [];
  const lines = [...problems.slice(0, listed), ...rest].map((line) => `- ${line}`);
  const message =
    count === 1 ? `${what} is not valid: ${only}` : `${what} has ${count} problems:\n${lines.join("\n")}`;
  return new TeamInvalid(message, { details: { ...details, problems } });
}
