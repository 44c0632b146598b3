import { type ErrorName, errorTable, MaestroError } from "../../domain/errors.ts";
import type { Failure, FailureCategory } from "../../domain/failure.ts";
import type { JsonRefusal } from "../../domain/json.ts";
import { unknownMember } from "../persona-result.ts";
import type { Link, Verdict } from "./error-chain.ts";

const final = (category: FailureCategory): Verdict => ({ category, recoverable: false });
const broken: Verdict = { category: "RESOURCE", severity: "critical", recoverable: false };
const stopped: Verdict = { category: "UNKNOWN", severity: "low", recoverable: false };

/** `undefined`: the class only decides what Maestro does next; the cause is classified. */
const byName: Readonly<Record<ErrorName, Verdict | undefined>> = {
  RecoverableError: undefined,
  UnrecoverableError: undefined,
  HelpNeeded: undefined,
  StrayError: undefined,
  DidNotHappen: undefined,
  SessionFailed: undefined,
  BudgetExceeded: { category: "BUDGET" },
  EffectUnknown: final("UNKNOWN"),
  ContractUnfulfilled: { category: "CONTRACT" },
  GovernanceViolation: { category: "GOVERNANCE" },
  AttemptTimeout: { category: "TIMEOUT", outage: true },
  CircuitOpen: {
    category: "API_ERROR",
    outage: true,
    suggestedFix: "Nothing to do: the breaker tries the service again by itself.",
  },
  SetupFailed: final("RESOURCE"),
  CheckpointCorrupt: broken,
  JournalCorrupt: broken,
  ArtifactCorrupt: broken,
  StateCorrupt: broken,
  StateTooNew: broken,
  StateUnavailable: broken,
  StateRemoved: broken,
  StorageFailed: broken,
  LeaseHeld: final("RESOURCE"),
  LeaseLost: final("RESOURCE"),
  SessionNotFound: final("CONTRACT"),
  SessionConflict: final("CONTRACT"),
  TeamInvalid: final("CONTRACT"),
  TeamChanged: final("CONTRACT"),
  ConfigInvalid: final("CONTRACT"),
  SandboxUnavailable: final("RESOURCE"),
  InputInvalid: { category: "CONTRACT" },
  NotTrusted: final("GOVERNANCE"),
  PersonaCrashed: { category: "UNKNOWN", severity: "high" },
  SessionCanceled: stopped,
  Interrupted: { ...stopped, recoverable: true },
};

const nameByCode: ReadonlyMap<string, ErrorName> = new Map(
  Object.entries(errorTable).map(([name, [code]]) => [code, name as ErrorName]),
);

function nameOf({ value }: Link): ErrorName | undefined {
  try {
    return MaestroError.is(value) ? nameByCode.get(value.code) : undefined;
  } catch {
    // A proxy may throw at any access.
    return undefined;
  }
}

export function readMaestroError(link: Link): Verdict | undefined {
  const name = nameOf(link);
  const verdict = name === undefined ? undefined : byName[name];
  if (verdict === undefined) return undefined;
  const advice = link.read("advice");
  return {
    ...(name === "ContractUnfulfilled" ? contractVerdict(link) : verdict),
    ...(name === "InputInvalid" && isOfCode(link) && { recoverable: false }),
    ...(name === "PersonaCrashed" && isOutOfMemory(link) && { category: "RESOURCE" }),
    code: link.code,
    ...(typeof advice === "string" && advice !== "" && { suggestedFix: advice }),
  };
}

/** The outer error decides about the retry, not its cause. */
export function recoverableByClass(link: Link): boolean | undefined {
  const name = nameOf(link);
  if (name === "RecoverableError") return true;
  return name === "UnrecoverableError" || name === "HelpNeeded" || name === "SessionFailed"
    ? false
    : undefined;
}

/** The same code returns a Map or a misspelled member again; a result that is too large may be smaller next time. */
function isOfCode(link: Link): boolean {
  const details = link.read("details") as { readonly reason?: unknown } | undefined;
  const reason = details?.reason;
  return reason === ("not a JSON value" satisfies JsonRefusal) || reason === unknownMember;
}

function isOutOfMemory(link: Link): boolean {
  const details = link.read("details") as { readonly end?: { readonly kind?: unknown } } | undefined;
  return details?.end?.kind === "memory";
}

/** The category of the first failed check: a failed test stays a failed test in any contract. */
function contractVerdict(link: Link): Verdict {
  const details = link.read("details") as { failures?: readonly Failure[]; list?: string } | undefined;
  const first = details?.failures?.[0];
  return {
    category: first?.category ?? "CONTRACT",
    file: first?.file,
    line: first?.line,
    details: details?.list,
  };
}
