import { createLog, type Log, logFormats, logLevels } from "../api/log/log.ts";
import { systemClock } from "../domain/clock.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import { sayInLog } from "./output.ts";

export interface LogFlags {
  readonly logFormat?: string;
  readonly logLevel?: string;
}

export const hasLog = ({ logFormat, logLevel }: LogFlags): boolean =>
  logFormat !== undefined || logLevel !== undefined;

/** The log of this process, on standard error. From now on all messages for people are entries of it. */
export function startLog({ logFormat = "text", logLevel = "info" }: LogFlags): Log {
  const log = createLog({
    format: choice("--log-format", logFormat, logFormats),
    level: choice("--log-level", logLevel, logLevels),
    clock: systemClock,
    write: (line) => void process.stderr.write(line),
  });
  sayInLog(log);
  return log;
}

function choice<const T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const found = choices.find((each) => each === text);
  if (found !== undefined) return found;
  throw new InputInvalid(`${flag} is "${text}".${didYouMean(text, choices)}`, {
    advice: `Use ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}.`,
  });
}
