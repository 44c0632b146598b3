import type { ErrorJson } from "../domain/error-json.ts";
import * as is from "./schema.ts";
import { errorJson } from "./values.ts";

export const sessionStatuses = [
  "queued",
  "running",
  "paused",
  "parked",
  "completed",
  "failed",
  "canceled",
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/**
 * `person`: a pause. `interrupt`: Ctrl-C, or the end of its process. `direction`: the run ended where it was told
 * to (--only, --until, --pause-after). `answer`: a review was answered, and a resume follows. `restore`: from
 * checkpoints. `refusal`: a resume was refused after its claim.
 */
export const pauseCauses = ["person", "interrupt", "direction", "answer", "restore", "refusal"] as const;
export type PauseCause = (typeof pauseCauses)[number];

interface ParkRule {
  /** The fields that only this reason has. */
  readonly data: is.Fields;
  /** A scheduler takes it at `wakeAt`, without a person. */
  readonly wakes?: true;
  /** A request for help is raised in the commit that parks it. */
  readonly raisesTicket?: true;
  /** A person's resume grants a new set of rounds. */
  readonly grantsRounds?: true;
  /** A run that is directed past the phase at fault parks for the same reason again. */
  readonly remains?: true;
}

/** Why a session is parked, one line per reason. */
export const parkReasons = {
  review: { data: {} },
  help: { data: { error: errorJson }, raisesTicket: true, grantsRounds: true, remains: true },
  budget: { data: { error: errorJson }, remains: true },
  breaker: { data: { error: errorJson, wakeAt: is.time }, wakes: true },
  /** The setup, the network or the machine is at fault: dependencies or checks do not work on the base files either. */
  setup: { data: { error: errorJson } },
  /** The outcome of an effect is unknown, and a person must settle it. */
  unknown: { data: { error: errorJson }, raisesTicket: true, remains: true },
} as const satisfies Readonly<Record<string, ParkRule>>;
export type ParkReason = keyof typeof parkReasons;

export const parkReasonNames = Object.keys(parkReasons) as readonly ParkReason[];

const parked = parkReasonNames.map((reason) => ({
  status: is.literal("parked"),
  reason: is.literal(reason),
  ...parkReasons[reason].data,
}));

type ParkedFields = {
  [Reason in ParkReason]: {
    readonly status: is.Schema<"parked">;
    readonly reason: is.Schema<Reason>;
  } & (typeof parkReasons)[Reason]["data"];
}[ParkReason];

/** The standing of a session: its status with that status's data. */
export const standing = is.union(
  { status: is.literal("running", "completed", "canceled") },
  /** It rests: everything in it has waited since `restsSince`, and it has no driver until `wakeAt`. */
  { status: is.literal("running"), wakeAt: is.time, restsSince: is.time },
  { status: is.literal("paused"), by: is.literal(...pauseCauses) },
  /** `wakeAt`: when a scheduler may take it. `person`: who resumed it. */
  { status: is.literal("queued"), wakeAt: is.optional(is.time), person: is.optional(is.label) },
  { status: is.literal("failed"), error: errorJson },
  ...(parked as unknown as readonly ParkedFields[]),
);
export type Standing = is.TypeOf<typeof standing>;
export type Parked = Extract<Standing, { readonly status: "parked" }>;

/** A reason that outlives the run that found it. */
export type RemainingReason = {
  [Reason in ParkReason]: (typeof parkReasons)[Reason] extends { readonly remains: true } ? Reason : never;
}[ParkReason];

type TicketReason = {
  [Reason in ParkReason]: (typeof parkReasons)[Reason] extends { readonly raisesTicket: true }
    ? Reason
    : never;
}[ParkReason];

/** Parked for a reason that raises a request for help. */
export type Asking = Extract<Standing, { readonly status: "parked"; readonly reason: TicketReason }>;

export const isAsking = <S extends Standing>(of: S): of is Extract<S, { readonly reason: TicketReason }> =>
  of.status === "parked" && isAskingReason(of.reason);

export const isAskingReason = (reason: ParkReason): boolean => ruleOf(reason).raisesTicket === true;

export const ruleOf = (reason: ParkReason): ParkRule => parkReasons[reason];

export const reasonOf = (of: Standing): ParkReason | undefined =>
  of.status === "parked" ? of.reason : undefined;

export const pausedBy = (of: Standing): PauseCause | undefined =>
  of.status === "paused" ? of.by : undefined;

export const errorOf = (of: Standing): ErrorJson | undefined => ("error" in of ? of.error : undefined);

export const wakeAtOf = (of: Standing): number | undefined => ("wakeAt" in of ? of.wakeAt : undefined);

export const remains = (of: Standing): of is Extract<Parked, { readonly reason: RemainingReason }> =>
  of.status === "parked" && ruleOf(of.reason).remains === true;

/** In these statuses a session is driven again only if a person asks. */
export const finalStatuses: readonly SessionStatus[] = ["completed", "failed", "canceled"];
