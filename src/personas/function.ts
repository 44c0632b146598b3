import type { ModelPrice } from "../cost/model-price.ts";
import type { Attachment } from "../domain/attachment.ts";
import type { CheckResult, Contract } from "../domain/contract.ts";
import type { AttemptSettings } from "../domain/healing-action.ts";
import type { Json } from "../domain/json.ts";
import type { ReservationId } from "../domain/ledger.ts";
import type { ProtectedChange } from "../domain/put-back.ts";
import type { Tree } from "../domain/tree.ts";
import type { Spent } from "../domain/usage.ts";
import type { Conversation } from "../journal/conversation.ts";
import type { Probed, RunStep } from "../journal/durable-step.ts";
import type { Decision, PersonaResult } from "../journal/journal.ts";
import type { ProcessIdentity } from "../journal/process-identity.ts";
import type { LayerPart } from "../workspace/layers/layer.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Guide } from "./guidance.ts";
import type { ContextTools } from "./tools/context-tool.ts";

export interface StepOptions {
  /** Further input of the result, besides the name and the persona's input. A changed input runs the step again. */
  readonly input?: Json;
  /** The service the effect calls, such as "api.example.org". While its breaker is open, the step waits. */
  readonly dependency?: string;
  /**
   * Decides what happens when a crash or an error leaves the outcome unknown. `repeatable` (default): it runs again. `once`:
   * its intent is recorded before it begins, and it is never repeated without a probe's or a person's word.
   */
  readonly effect?: "repeatable" | "once";
  /** Of a `once` effect: asks the outside world whether it happened. Undefined: it cannot say. */
  readonly probe?: (() => Probed<unknown> | Promise<Probed<unknown>>) | undefined;
}

/** For code that runs elsewhere: the processes besides this one that run the effect. */
export interface HostedStepOptions extends StepOptions {
  readonly processes?: () => readonly ProcessIdentity[];
}

/** The immutable value a phase reads. */
export interface TeamContext {
  readonly sessionId: string;
  readonly phase: string;
  /** The whole results of earlier phases, or of the contracts the persona consumes: phase, then persona. */
  readonly results: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
}

/** A persona's own copy of the files. Changes count when its attempt completes. */
type PersonaWorkspace = Pick<
  Workspace,
  "read" | "readText" | "write" | "remove" | "move" | "edit" | "list" | "search"
>;

/** The argument of a persona's function. */
export interface PersonaContext {
  readonly brief: string;
  readonly context: TeamContext;
  /** Aborted when the work should stop now. */
  readonly signal: AbortSignal;
  /** Why earlier attempts failed, oldest first; empty at the first. */
  readonly failures: readonly Error[];
  /** Notes of reviewers that rejected the phase. */
  readonly notes: readonly string[];
  /** Changes of earlier attempts that were put back, because they may not be made. */
  readonly putBack: readonly ProtectedChange[];
  /** Prepared dependencies of the files as they are now, for commands. */
  readonly layers?: () => Promise<readonly LayerPart[]>;
  readonly workspace: PersonaWorkspace;
  /** Its tools by name, for `generateText` of the AI SDK or to call: `ctx.tools.read_file.execute({ path })`. */
  readonly tools: ContextTools;
  /**
   * Runs `effect` once and remembers its outcome for ever; a restart gets the record. If the process dies between the
   * effect and its record, the effect happens again, unless the options say `effect: "once"`.
   */
  readonly step: <T>(name: string, effect: () => T | Promise<T>, options?: StepOptions) => Promise<T>;
  /** A wait that survives restarts. */
  readonly sleep: (ms: number) => Promise<void>;
  /** For people who watch; not recorded. */
  readonly log: (message: string) => void;
}

export interface PersonaReturn {
  readonly summary: string;
  readonly outputs?: Readonly<Record<string, Json>>;
  readonly decisions?: readonly Decision[];
}

export type PersonaFunction = (context: PersonaContext) => Promise<PersonaReturn> | PersonaReturn;

export interface HappenedEffect {
  readonly name: string;
  readonly call: Json | undefined;
}

/** A file that belongs to the brief, with its content. */
export interface Attached extends Attachment {
  readonly content: Buffer;
}

/** Calls that count as estimates, because nothing has said yet what they took. */
export interface LostCalls {
  /** Oldest first. */
  of(model: string): Promise<readonly ReservationId[]>;
  settle(call: ReservationId, spent: Spent): Promise<void>;
}

/** The argument of any kind of work: more than a function of the team's author should see. */
export interface WorkContext extends Omit<PersonaContext, "tools"> {
  readonly guide: Guide;
  readonly persona: string;
  /** The attempt that began the conversation: its own, or the one it continues. */
  readonly conversation: Conversation;
  /** Effects of earlier attempts that happened: an equal call gets the recorded result. */
  readonly effects: readonly HappenedEffect[];
  readonly files: Workspace;
  /** Files that belong to the brief. */
  readonly attached: () => Promise<readonly Attached[]>;
  readonly contract: Contract;
  readonly settings: AttemptSettings;
  readonly runStep: RunStep;
  /** Calls of this conversation whose driver died. */
  readonly lostCalls: LostCalls;
  /** Throws when the files have a change since then that the persona may not make. */
  readonly refuseProtected: (since: Tree) => Promise<void>;
  /** Puts back changes since then that the persona may not make, and names them. */
  readonly putBackProtected: (since: Tree) => Promise<readonly ProtectedChange[]>;
  /** Keeps a text and gives its hash. It lives as long as a record that names it. */
  readonly keepText: (text: string) => Promise<string>;
  /** One check of the contract, on the files as they are now. */
  readonly runCheck: (name: string, signal: AbortSignal) => Promise<CheckResult>;
  /** Live text for people who watch; not recorded. */
  readonly onText: (delta: string) => void;
  readonly progress: () => void;
  /** For work that has a limit of its own: as long as it takes, the attempt does not stand still. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The argument at run time: with the ports that `durableModel` needs. */
export interface FunctionContext extends WorkContext, Pick<PersonaContext, "tools"> {
  readonly priceOf: (model: string) => Promise<ModelPrice | null>;
  /** Masks these values from now on. */
  readonly keepSecret: (secrets: readonly string[]) => void;
}

/** The part that `durableModel` needs. */
export type ModelPorts = Pick<
  FunctionContext,
  "runStep" | "signal" | "onText" | "progress" | "during" | "priceOf" | "keepSecret"
>;

/** How a persona does its work, whatever does it: a function, a model, a command. */
export type Perform = (context: WorkContext) => Promise<PersonaReturn> | PersonaReturn;
