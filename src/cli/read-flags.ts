import { InputInvalid } from "../domain/errors.ts";
import { checkQueuePlace, isPriority, priorities, type QueuePlace } from "../domain/queue.ts";

export const usageGroups = ["persona", "phase", "model", "session", "day"] as const;

export const transcriptFormats = ["text", "markdown", "jsonl"] as const;

/**
 * `a,b` as a list; undefined without the flag. An empty list usually is a script's empty variable, so it never
 * means "all".
 */
export function readList(flag: string, text: string | undefined): readonly string[] | undefined {
  const words = text
    ?.split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  if (words?.length !== 0) return words;
  throw new InputInvalid(`${flag} is empty.`, {
    advice: `For example: ${flag} design,testing. Or omit it.`,
  });
}

export function readTokens(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const found = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text.trim().replaceAll(/[_,]/g, ""));
  const scale = { "": 1, k: 1_000, m: 1_000_000 }[found?.[2]?.toLowerCase() ?? ""] ?? 1;
  const tokens = Number(found?.[1]) * scale;
  if (Number.isSafeInteger(tokens) && tokens > 0) return tokens;
  throw new InputInvalid(`${flag} is "${text}"; it must be a whole number of tokens above 0.`, {
    advice: `For example: ${flag} 200000, or ${flag} 200k.`,
  });
}

/** Money is stored in millionths of a dollar, so a smaller limit would be zero. */
const leastDollars = 0.000_001;

export function readDollars(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const usd = /^\$?\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text.trim().replace("$", "")) : Number.NaN;
  if (usd >= leastDollars && usd <= 1_000_000) return usd;
  throw new InputInvalid(
    `${flag} is "${text}"; it must be an amount of dollars from ${leastDollars} to 1000000.`,
    {
      advice: `For example: ${flag} 2.50.`,
    },
  );
}

export function readNumber(flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
  throw new InputInvalid(`${flag} is "${text}"; it must be a number, 0 or more.`, {
    advice: `For example: ${flag} 30.`,
  });
}

export function readCount(
  flag: string,
  text: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER } = {},
): number {
  const count = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
  throw new InputInvalid(`${flag} is "${text}"; it must be a whole number from ${least}${upTo}.`, {
    advice: `For example: ${flag} ${Math.max(least, Math.min(most, 50))}.`,
  });
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A date such as 2030-01-31, or a duration before now: 90m, 24h, 7d, 2w. */
export function readSince(flag: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const back = /^(\d{1,5})\s*([mhdw])$/.exec(text.trim());
  if (back !== null) return now - Number(back[1]) * (units[back[2] ?? ""] ?? 0);
  const [day = ""] = /^\d{4}-\d{2}-\d{2}/.exec(text.trim()) ?? [];
  const at = day === "" ? Number.NaN : Date.parse(text.trim());
  // JavaScript parses 31 February as a day in March.
  if (Number.isFinite(at) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)) return at;
  throw new InputInvalid(`${flag} is "${text}"; it must be a day or a duration.`, {
    advice: `For example: ${flag} 2030-01-31, or ${flag} 7d.`,
  });
}

/** Which queue a new session waits in, and how urgent it is there. */
export function readQueuePlace(flags: { readonly queue?: string; readonly priority?: string }): QueuePlace {
  const { queue, priority } = flags;
  const number = priority === undefined || priority.trim() === "" ? Number.NaN : Number(priority);
  if (priority !== undefined && !isPriority(number))
    throw new InputInvalid(
      `--priority is "${priority}"; it must be a whole number from ${priorities.least} to ${priorities.most}.`,
      { advice: "For example: --priority 10. Higher ones are taken first; the default is 0." },
    );
  const place = {
    ...(queue !== undefined && { queue }),
    ...(priority !== undefined && { priority: number }),
  };
  checkQueuePlace(place);
  return place;
}

export function readBudget(flags: {
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
}): { readonly tokens?: number; readonly usd?: number } | undefined {
  const tokens = readTokens("--budget-tokens", flags.budgetTokens);
  const usd = readDollars("--budget-usd", flags.budgetUsd);
  if (tokens === undefined && usd === undefined) return undefined;
  return { ...(tokens !== undefined && { tokens }), ...(usd !== undefined && { usd }) };
}
