/**
 * The JSON of every route that the page reads or writes, as the server's own schemas describe it. Types only, so
 * the bundle contains no server code. Times are ISO 8601 in UTC. Money is in dollars; null means that the price is
 * unknown.
 */
import type { z } from "@hono/zod-openapi";
import type { Fact, PublicFact } from "../../../src/journal/public-fact.ts";
import type * as actions from "../../../src/server/schemas/actions.ts";
import type * as events from "../../../src/server/schemas/events.ts";
import type * as inside from "../../../src/server/schemas/inside.ts";
import type * as server from "../../../src/server/schemas/server.ts";
import type * as session from "../../../src/server/schemas/session.ts";
import type * as situation from "../../../src/server/schemas/situation.ts";
import type * as transcript from "../../../src/server/schemas/transcript.ts";
import type * as values from "../../../src/server/schemas/values.ts";

type Schema<T extends z.ZodType> = Known<z.infer<T>>;

export type Usage = Schema<typeof values.usage>;
export type Range = Schema<typeof values.range>;
export type GateView = Schema<typeof values.gate>;
export type Failure = Schema<typeof values.failure>;
export type FailureCategory = Failure["category"];
export type CheckResult = Schema<typeof values.checkResult>;
export type ChangedFile = Schema<typeof values.changedFile>;
export type SessionStatus = z.infer<typeof values.sessionStatus>;
export type ParkReason = z.infer<typeof values.parkReason>;
export type RunStatus = z.infer<typeof values.runStatus>;

export type Held = Schema<typeof situation.held>;
export type Activity = Schema<typeof situation.activity>;
export type Doing = Activity["doing"];
export type Situation = Schema<typeof situation.situation>;

export type SessionRow = Schema<typeof session.sessionRow>;
export type SessionsPage = Schema<typeof session.sessionsPage>;
export type ViewCounts = Schema<typeof session.viewCounts>;
export type SessionHeader = Schema<typeof session.sessionHeader>;
export type SessionView = Schema<typeof session.sessionView>;
export type PhaseView = SessionView["phases"][number];
export type PersonaView = Schema<typeof session.personaView>;
export type AttemptView = Schema<typeof session.attemptView>;
export type BudgetView = Schema<typeof session.budgetView>;
/** The evidence of why one persona stopped. */
export type StoppedPersona = Schema<typeof session.stopReport>["personas"][number];
export type FailureOutput = NonNullable<StoppedPersona["output"]>;
type StopExplanation = Schema<typeof session.stopExplanation>;
export type Advice = StopExplanation["todo"][number];
export type ProposedLimit = NonNullable<StopExplanation["raise"]>;
export type Review = Schema<typeof session.review>;
export type WaitingView = Schema<typeof session.waitingView>;
export type EffectView = Schema<typeof session.effectView>;
export type TicketView = Schema<typeof session.ticketView>;

export type CheckpointInfo = Schema<typeof inside.checkpointInfo>;
export type TranscriptPage = Schema<typeof transcript.transcriptPage>;
export type TranscriptItem = TranscriptPage["items"][number];
export type PersonaDetail = Schema<typeof inside.personaDetail>;
export type FileChanges = Schema<typeof inside.fileChanges>;
export type FileChange = FileChanges["files"][number];
export type StepBlock = Schema<typeof inside.stepBlock>;
export type StepsPage = Schema<typeof inside.stepsPage>;
export type ArtifactTree = Schema<typeof inside.artifactTree>;
export type TreeRef = ArtifactTree["trees"][number];
export type TeamDefinition = Schema<typeof inside.teamDefinition>;

export type ServerStatus = Schema<typeof server.serverStatus>;
export type BreakersView = Schema<typeof server.breakersView>;
export type BreakerView = Schema<typeof server.breakerView>;
export type BreakerWaiter = BreakerView["waiting"][number];
export type TicketsView = Schema<typeof server.ticketsView>;
export type TicketRow = TicketsView["tickets"][number];
export type UploadView = Schema<typeof server.uploadView>;
export type UsageReport = Schema<typeof server.usageReport>;
export type UsageBy = "persona" | "phase" | "model" | "session" | "day";
export type TeamsView = Schema<typeof server.teamsView>;

/** The sent form, because a request may be built from readonly values. */
type Request<T extends z.ZodType> = ReadonlyDeep<z.infer<T>>;
type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: ReadonlyDeep<T[Name]> }
    : T;

/** By phase, as in `--edit phase=file`. */
export type Edits = Request<typeof actions.edits>;
export type PhaseEdit = Edits[string];
export type StartRequest = Request<typeof actions.startRequest>;
export type ResumeRequest = Request<typeof actions.resumeRequest>;
export type ForkRequest = Request<typeof actions.forkRequest>;
export type ReviewRequest = Request<typeof actions.reviewRequest>;
export type RejectRequest = Request<typeof actions.rejectRequest>;
export type SettleRequest = Request<typeof actions.settleRequest>;
export type ApproveCallRequest = Request<typeof actions.approveCallRequest>;
export type RejectCallRequest = Request<typeof actions.rejectCallRequest>;
export type AnswerRequest = Request<typeof actions.answerRequest>;
export type BudgetRequest = Request<typeof actions.budgetRequest>;
export type SessionRef = Pick<SessionRow, "id" | "key">;
export type Plan = Schema<typeof actions.plan>;
export type PlanLine = Plan["lines"][number];
export type Problem = Schema<typeof actions.problem>;

export type EntryFact = Fact;
export type JournalEntry = PublicFact;
export type JournalFilter = z.infer<typeof events.journalFilter>;
export interface JournalPage extends Omit<Schema<typeof events.journalPage>, "entries"> {
  readonly entries: readonly JournalEntry[];
}

/** The data of each event of the streams, by name. */
export type StreamEvents = Omit<Known<events.StreamEvents>, "entry" | "change"> & {
  readonly entry: JournalEntry;
  readonly change: Sent<Omit<Known<events.StreamEvents>["change"], "session">> & {
    readonly session?: Sent<SessionHeader>;
  };
};
/** JSON has no undefined, so an unsent value has no member. */
type Sent<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };
export type SessionChange = StreamEvents["change"];
export type LiveText = StreamEvents["text"];
export type LiveStep = StreamEvents["step"];

/** The listed members of a value that may have more, readonly at every depth. */
type Known<T> = T extends readonly (infer Item)[]
  ? readonly Known<Item>[]
  : T extends object
    ? { readonly [Name in keyof T as string extends Name ? never : Name]: Known<T[Name]> }
    : T;
