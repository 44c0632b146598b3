import type { Amount } from "../../domain/budget.ts";
import type { CheckResult } from "../../domain/contract.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { ProtectedChange } from "../../domain/put-back.ts";
import type { Tree, TreeChange } from "../../domain/tree.ts";
import type { Spent, TokenUsage } from "../../domain/usage.ts";

/** The cost of calls. A model is named "anthropic/claude-sonnet-4-5". */
export interface Pricing {
  /** Reserved before the call. */
  worstCase(model: string, inputTokens: number, maxOutputTokens: number): Amount | Promise<Amount>;
  /** The cost of a call by its provider's report. Called only after `worstCase` for the same model. */
  spent(model: string, usage: TokenUsage | null): Spent;
  /** Version of the table that has the price. Called only after `worstCase` for the same model. */
  tableOf?(model: string): string | undefined;
}

export interface FileEdit {
  readonly find: string;
  readonly replace: string;
  /** Every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean | undefined;
}

export interface FileMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** The bytes of an edit, and of writing the whole file instead. */
export interface EditSavings {
  readonly rewriteBytes: number;
  readonly editBytes: number;
}

/**
 * The files a persona works on. Paths are relative to the root. What the persona did wrong (no such file, a text that
 * is not there) is thrown as `InputInvalid` and told to the model; anything else that is Maestro's ends the attempt.
 */
export interface ToolFiles {
  /** The files as they are now, */
  readonly tree: Tree;
  /** and their hash. */
  readonly hash: string;
  readonly recordings: {
    /** The changes of the effect; a failed effect is rolled back. */
    record<T>(
      effect: () => T | Promise<T>,
    ): Promise<{ readonly result: T; readonly changes: readonly TreeChange[] }>;
  };
  /** Makes the blobs of these changes durable, before a record names them. */
  flush(changes: readonly TreeChange[]): Promise<unknown>;
  /** Sets these paths to what a recorded step left; doing it twice does nothing more. */
  reapply(changes: readonly TreeChange[]): void;
  readText(path: string): Promise<string>;
  /** Keeps the encoding of the file that is there, where it can. */
  writeText(path: string, text: string): Promise<unknown>;
  edit(path: string, edits: readonly FileEdit[]): Promise<EditSavings>;
  remove(path: string): Promise<void>;
  /** Never onto a file that is there. */
  move(from: string, to: string): Promise<void>;
  list(glob?: string): readonly string[];
  /** Lines that hold the text, or match when the pattern is written as /expression/; of bounded number and length. */
  search(pattern: string, glob?: string): Promise<readonly FileMatch[]>;
}

/** Why a file should be edited instead of written; undefined when writing is right. */
export type AdviseEdit = (before: string, after: string) => string | undefined;

/** The text of a skill's file; without a path, its instructions and the list of its files. */
export type ReadSkill = (name: string, path?: string) => Promise<string>;

/** Runs one check of the contract on the files as they are now. */
export type RunCheck = (name: string, signal: AbortSignal) => Promise<CheckResult>;

export interface ProgramRequest {
  readonly argv: readonly string[];
  /** The persona's own limit may be shorter. */
  readonly timeoutMs?: number;
}

/** How a program on a copy of the files ended, and what it left. */
export interface ProgramEnd {
  /** Continues "The command ...". */
  readonly end: string;
  readonly code: number | null;
  /** The beginning and the end of what it printed, */
  readonly stdout: string;
  readonly stderr: string;
  /** and the hash of all of it. */
  readonly output: string | null;
  /** As the readers of tools' output explain them. */
  readonly failures: readonly Failure[];
  /** How many files. */
  readonly changed: number;
  readonly putBack: readonly ProtectedChange[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  /** Each host that it asked for in vain, with the reason. */
  readonly refusedHosts: readonly string[];
}

/** Runs a program that the model chose. Its changes are in the workspace when this returns. */
export type RunProgram = (request: ProgramRequest) => Promise<ProgramEnd>;

export const noPrograms: RunProgram = () =>
  Promise.reject(new InputInvalid("There is no place to run commands."));

export interface FetchedPage {
  /** After redirects. */
  readonly url: string;
  /** Of its content, such as "text/html". */
  readonly type: string;
  readonly text: string;
}

/** Reads a page of the web. What the model did wrong is thrown as `InputInvalid`. */
export type FetchUrl = (url: string, signal: AbortSignal) => Promise<FetchedPage>;

export type PolicyDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string };

/** A tool, as far as the policy asks about it. */
export interface GovernedTool {
  readonly name: string;
  /** The arguments that are paths of files it changes. */
  readonly writes?: readonly string[];
  /** It runs the check that its `name` says. */
  readonly runsCheck?: true;
}

/** Governance: decides before each tool call. */
export interface ToolPolicy {
  allow(tool: GovernedTool, args: Readonly<Record<string, Json>>): PolicyDecision;
}

export const allowEverything: ToolPolicy = { allow: () => ({ allowed: true }) };

export interface CommandRequest {
  /** Program and arguments; no shell. */
  readonly argv: readonly string[];
  readonly directory: string;
  /** Stays when the command ends, for what the agent wants to find again. */
  readonly home?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  readonly onOutput: (text: string, stream: "stdout" | "stderr") => void;
}

export type CommandEnding =
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "timeout" | "aborted" }
  | { readonly kind: "exceeded"; readonly reason: string }
  /** `permanent`: trying again cannot start it. */
  | { readonly kind: "not-started"; readonly reason: string; readonly permanent?: true };

export type RunCommand = (command: CommandRequest) => Promise<CommandEnding>;

/** A persona's files on a real disk, and what is left there of an earlier life. */
export interface CommandFolder {
  readonly directory: string;
  readonly home?: string | undefined;
  /** The agent's conversation that was interrupted: the files are as it left them. `null`: they are the persona's own. */
  readonly session: string | null;
  /**
   * Stores the conversation's id, so that the next driver can resume it after a crash. `used`: what the conversation had
   * used before this run.
   */
  note(session: string, used: JsonObject): Promise<void>;
  /** Back to the persona's own files. */
  restart(): Promise<void>;
}

/** The persona's files on a real disk, until the changes of a command are recorded. */
export interface CommandPlace {
  /**
   * Copies the files into a folder, lets the work happen there and reads back what it left, with blobs made durable. If
   * the work fails, nothing of it is taken over.
   */
  inFolder<T>(work: (folder: CommandFolder) => Promise<T>): Promise<{
    readonly result: T;
    readonly changes: readonly TreeChange[];
    readonly refused: readonly { readonly path: string; readonly reason: string }[];
  }>;
}
