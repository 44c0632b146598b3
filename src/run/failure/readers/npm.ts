import { createFailure, type Failure } from "../../../domain/failure.ts";
import { linesOf, type OutputReader, textOf } from "../command-output.ts";
import type { Verdict } from "../error-chain.ts";
import { verdictOfCode } from "../system-failure.ts";

const missing: Verdict = { category: "IMPORT" };
const setup: Verdict = { category: "CONTRACT" };

const byCode: Readonly<Record<string, Verdict>> = {
  ERESOLVE: { ...missing, suggestedFix: "Choose versions whose peer dependencies agree." },
  E404: { ...missing, suggestedFix: "Correct the package's name: the registry does not have it." },
  ETARGET: { ...missing, suggestedFix: "Choose a version that exists." },
  ENOVERSIONS: missing,
  EINTEGRITY: { category: "API_ERROR", suggestedFix: "Clear the npm cache and install again." },
  E401: { category: "AUTH" },
  E403: { category: "AUTH" },
  ENEEDAUTH: { category: "AUTH" },
  EOTP: { category: "AUTH" },
  E429: { category: "RATE_LIMIT", outage: true },
  EJSONPARSE: { category: "SYNTAX", file: "package.json" },
  EUSAGE: { ...setup, suggestedFix: "Run npm install, so that package.json and the lock file agree." },
  EBADENGINE: setup,
  EBADPLATFORM: setup,
  EINVALIDPACKAGENAME: setup,
  ERR_SOCKET_TIMEOUT: { category: "TIMEOUT", outage: true },
};

/** npm's own errors ("npm error", before npm 10 "npm ERR!"). A script that failed explains itself: not npm's. */
export const readNpm: OutputReader = (output) => {
  if (!/^npm (?:error|ERR!) /m.test(textOf(output))) return undefined;
  const lines = linesOf(output)
    .map((line) => /^npm (?:error|ERR!) ?(.*)$/.exec(line)?.[1])
    .filter((text) => text !== undefined && !text.startsWith("A complete log of this run"))
    .map((text) => text ?? "");
  const script = lines
    .map((text) => /^Missing script: "?([^"]{1,200})/.exec(text)?.[1])
    .find((name) => name !== undefined);
  if (script !== undefined) {
    const suggestedFix = `Add the script "${script}" to package.json, or run one that exists.`;
    return [toFailure({ ...setup, suggestedFix }, lines, "missing_script", `Missing script: "${script}"`)];
  }
  const code = lines
    .map((text) => /^code (E[A-Z0-9_]{1,60}|[A-Z_]{3,60})$/.exec(text)?.[1])
    .find((found) => found !== undefined);
  if (code === undefined || code === "ELIFECYCLE") return undefined;
  return [toFailure(verdictOf(code), lines, code, messageOf(lines, code))];
};

function verdictOf(code: string): Verdict {
  if (Object.hasOwn(byCode, code)) return byCode[code] as Verdict;
  if (/^E5\d\d$/.test(code)) return { category: "API_ERROR", outage: true };
  return verdictOfCode(code) ?? { category: "UNKNOWN" };
}

/** The first sentence that is neither the code nor a field. */
function messageOf(lines: readonly string[], code: string): string {
  const sentence = lines
    .map((text) => text.replace(/^(?:\d{3}|notarget|enoent|JSON\.parse) /, "").trim())
    .find(
      (text) =>
        text.includes(" ") &&
        !/^(?:code|errno|syscall|path|cwd|dest|network|type|signal|command) /.test(text),
    );
  return `${code}: ${(sentence ?? "npm failed").replace(new RegExp(`^${code}:? `), "")}`;
}

function toFailure(verdict: Verdict, lines: readonly string[], code: string, message: string): Failure {
  const path = lines.find((text) => text.startsWith("path "))?.slice("path ".length);
  const details = lines.slice(0, 60).join("\n");
  return createFailure({ ...verdict, message, details, source: "npm", code, file: verdict.file ?? path });
}
