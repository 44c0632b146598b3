import type { Clock } from "../../domain/clock.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { redact } from "../../domain/redact.ts";

/** Least important first. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ["text", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

/** The place that an entry is about, and numbers. Undefined fields are left out. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: LogFields;
}

export type Log = (entry: LogEntry) => void;

export interface LogOptions {
  readonly format: LogFormat;
  /** Entries below it are left out. */
  readonly level: LogLevel;
  readonly clock: Clock;
  readonly write: (line: string) => void;
}

/** Writes one line per entry. Secrets of this process are removed, also from errors that contain them. */
export function createLog({ format, level, clock, write }: LogOptions): Log {
  const least = logLevels.indexOf(level);
  const lineOf = format === "json" ? jsonLine : textLine;
  return (entry) => {
    if (logLevels.indexOf(entry.level) >= least) write(`${lineOf(isoTime(clock.now()), entry)}\n`);
  };
}

function jsonLine(time: string, { level, message, fields = {} }: LogEntry): string {
  return JSON.stringify({ time, level, message: redact(message), ...mapFields(fields, redact) });
}

function textLine(time: string, { level, message, fields = {} }: LogEntry): string {
  const shown = Object.entries(mapFields(fields, (text) => inText(redact(text)))).map(
    ([name, value]) => `${name}=${value}`,
  );
  return [time, level.padEnd(5), oneLine(redact(message)), ...shown].join(" ");
}

/** A value with a space would look like two fields. */
const inText = (text: string): string =>
  /^[\w@%+:,./-]+$/.test(text) ? text : JSON.stringify(oneLine(text));

/** A text of several lines could look like entries of its own. */
const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ");

function mapFields(fields: LogFields, map: (text: string) => string): LogFields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? map(value) : value]),
  );
}
