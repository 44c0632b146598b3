import type { Verdict } from "./error-chain.ts";

const missing =
  /^(?:Error: )?Cannot find (?:module|package)|Cannot find (?:module|package) ['"`]|does not provide an export named|Failed to (?:resolve import|load url)|Module not found|No module named|cannot import name|Could not resolve ["']/;
const unparsable =
  /invalid JS syntax|Failed to parse source|Transform failed|Unexpected token|Unterminated (?:string|template|regular)|PARSE_ERROR/;
const memory = /heap out of memory|Cannot allocate memory|out of memory|ENOMEM/i;

const byName: Readonly<Record<string, Verdict["category"]>> = {
  ModuleNotFoundError: "IMPORT",
  ImportError: "IMPORT",
  SyntaxError: "SYNTAX",
  IndentationError: "SYNTAX",
  TabError: "SYNTAX",
  TypeError: "TYPE",
  ReferenceError: "TYPE",
  NameError: "TYPE",
  UnboundLocalError: "TYPE",
  AttributeError: "TYPE",
  AssertionError: "TEST_FAILURE",
  ZodError: "CONTRACT",
  $ZodError: "CONTRACT",
  MemoryError: "RESOURCE",
  TimeoutError: "TIMEOUT",
};

/** Classifies by the error's name and message, for JavaScript and Python. */
export function readErrorText(name: string, message: string): Verdict | undefined {
  const words = message.slice(0, 2000);
  if (missing.test(words)) return { category: "IMPORT", code: name || undefined };
  if (memory.test(words)) return { category: "RESOURCE", code: name || "ENOMEM" };
  if (Object.hasOwn(byName, name)) return { category: byName[name] ?? "UNKNOWN", code: name };
  if (unparsable.test(words)) return { category: "SYNTAX", code: name || undefined };
  return undefined;
}

const byMessage: readonly (readonly [RegExp, Verdict])[] = [
  [/\b(?:time[ -]?out|timed out|deadline exceeded)\b/i, { category: "TIMEOUT", outage: true }],
  [/\brate[ _-]?limit|too many requests\b/i, { category: "RATE_LIMIT", outage: true }],
  [
    /no space left on device|disk quota exceeded/i,
    { category: "RESOURCE", code: "ENOSPC", recoverable: false },
  ],
  [/too many open files/i, { category: "RESOURCE", code: "EMFILE" }],
  [
    /\bfetch failed|socket hang up|network (?:error|is unreachable)|connection (?:reset|refused|closed)|other side closed/i,
    { category: "API_ERROR", outage: true },
  ],
  [/\bgetaddrinfo\b|could not resolve host|name resolution/i, { category: "API_ERROR", outage: true }],
  [
    /\b(?:service unavailable|bad gateway|internal server error|overloaded)\b/i,
    { category: "API_ERROR", outage: true },
  ],
  [/\bunauthorized\b|authentication failed|permission denied|\bforbidden\b/i, { category: "AUTH" }],
];

/** The last resort, for errors that have only a message. */
export function readSentence(message: string): Verdict | undefined {
  const words = message.slice(0, 4000);
  return byMessage.find(([pattern]) => pattern.test(words))?.[1];
}
