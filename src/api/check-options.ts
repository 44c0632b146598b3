import type { DeliveryOrder } from "../domain/delivery-order.ts";
import { InputInvalid, TeamInvalid } from "../domain/errors.ts";
import { checkQueuePlace } from "../domain/queue.ts";
import type { OwnProvider } from "../personas/model/model-sources.ts";
import { checkProviderName } from "../personas/model/own-providers.ts";
import type { SourceOptions } from "../run/acts/read-source.ts";
import type { Team } from "../team/define.ts";
import type { ImportOptions } from "./export-import.ts";
import type {
  BudgetOptions,
  CreateOptions,
  ForkOptions,
  GivenOptions,
  MixedOptions,
  PlanOptions,
  PruneOptions,
  QueueOptions,
  ResumeOptions,
  StartOptions,
} from "./options.ts";
import { type OptionNames, refuseUnknown } from "./refuse-unknown.ts";

type Limits = Pick<BudgetOptions, "tokens" | "usd">;

const ofCreate: OptionNames<CreateOptions> = {
  brief: true,
  key: true,
  model: true,
  teamFile: true,
  queue: true,
  priority: true,
  attachments: true,
  given: true,
  budget: true,
  source: true,
  upload: true,
  deliver: true,
};
const ofDelivery: OptionNames<DeliveryOrder> = {
  branch: true,
  apply: true,
  patch: true,
  push: true,
  pullRequest: true,
};
const ofSource: OptionNames<SourceOptions> = {
  git: true,
  ref: true,
  include: true,
  exclude: true,
  checksOnly: true,
  within: true,
};
const { deliver: _, ...ofQueued } = ofCreate;
const ofQueue: OptionNames<QueueOptions> = {
  ...ofQueued,
  only: true,
  from: true,
  until: true,
  pauseAfter: true,
};
const ofStart: OptionNames<StartOptions> = { ...ofQueue, beforeDrive: true, deliver: true };
const ofPlan: OptionNames<PlanOptions> = {
  team: true,
  edits: true,
  acceptChanges: true,
  note: true,
  direction: true,
};
const ofResume: OptionNames<ResumeOptions & PlanOptions> = { ...ofPlan, trust: true };
const ofFork: OptionNames<ForkOptions> = {
  at: true,
  edits: true,
  fresh: true,
  repeatEffects: true,
  team: true,
  model: true,
  key: true,
  budget: true,
};
const ofGift: OptionNames<GivenOptions> = { outputs: true, files: true, summary: true, origin: true };
const ofBudget: OptionNames<Limits> = { tokens: true, usd: true };
const ofNewLimit: OptionNames<BudgetOptions> = { ...ofBudget, persona: true, phase: true };

const ofPrune: OptionNames<PruneOptions> = { olderThanMs: true, keep: true, dryRun: true, damaged: true };

/** Money is stored in millionths of a dollar; a smaller limit would be zero. */
const leastUsd = 0.000_001;
const mostUsd = 1_000_000;

// For callers without type checks. An ignored option costs money: with a misspelled `key` each call creates and pays another
// session, and with misspelled `edits` a session runs without them.

export const checkStartOptions = (team: Team, options: StartOptions): void =>
  checkNew(team, options, ofStart);

export const checkQueueOptions = (team: Team, options: QueueOptions): void =>
  checkNew(team, options, ofQueue);

export const checkCreateOptions = (team: Team, options: CreateOptions): void =>
  checkNew(team, options, ofCreate);

function checkNew(team: Team, options: CreateOptions, known: Readonly<Record<string, true>>): void {
  checkTeam(team);
  refuseUnknown("A session", options, known);
  checkQueuePlace(options);
  if (options.budget !== undefined) checkLimits(options.budget, ofBudget);
  if (options.source !== undefined) refuseUnknown("A source", options.source, ofSource);
  if (options.source !== undefined && options.upload !== undefined)
    throw new InputInvalid("A session begins with a repository or with an upload, not with both.", {
      advice: "Leave one of them out.",
    });
  checkAttached(options.attachments ?? []);
  if (options.deliver !== undefined) refuseUnknown("A delivery", options.deliver, ofDelivery);
  checkPhases(options.given ?? {});
}

function checkAttached(attachments: unknown): void {
  const advice = "Write: attachments: [{ name, content }], with a text or bytes.";
  if (!Array.isArray(attachments)) throw new InputInvalid("attachments is not a list.", { advice });
  for (const attachment of attachments as readonly unknown[]) {
    if (typeof attachment !== "object" || attachment === null)
      throw new InputInvalid("An attachment is not an object.", { advice });
    const known: readonly string[] = "upload" in attachment ? ["upload"] : ["name", "content"];
    refuseUnknown("An attachment", attachment, Object.fromEntries(known.map((key) => [key, true as const])));
    const { upload, name, content } = attachment as Readonly<Record<string, unknown>>;
    const isFile = typeof name === "string" && (typeof content === "string" || content instanceof Uint8Array);
    if (typeof upload !== "string" && !isFile)
      throw new InputInvalid("An attachment has no name or no content.", { advice });
  }
}

/** It becomes a part of every prompt of the attempts that it reaches. */
const mostNoteLength = 20_000;

export function checkResumeOptions(options: ResumeOptions & PlanOptions): void {
  refuseUnknown("A resume", options, ofResume);
  checkPhases(options.edits ?? {});
  const { note } = options as { readonly note?: unknown };
  if (note === undefined) return;
  if (typeof note !== "string" || note.trim() === "" || note.length > mostNoteLength)
    throw new InputInvalid(`A note is a text of 1 to ${mostNoteLength} characters.`, {
      advice: 'For example: note: "The address is in docs/office.md."',
    });
}

export const checkImportOptions = (options: ImportOptions): void =>
  refuseUnknown("An import", options, { trust: true } satisfies OptionNames<ImportOptions>);

export function checkForkOptions(options: ForkOptions): void {
  refuseUnknown("A fork", options, ofFork);
  if (typeof options.at !== "string")
    throw new InputInvalid("A fork needs the first phase that runs again.", {
      advice: 'Name it: { at: "..." }',
    });
  if (options.budget !== undefined) checkLimits(options.budget, ofBudget);
  checkPhases(options.edits ?? {});
}

export function checkMixedOptions(options: MixedOptions): void {
  refuseUnknown("A mixed execution", options, { pauseAfter: true } satisfies OptionNames<MixedOptions>);
}

export function checkPruneOptions(options: PruneOptions): void {
  refuseUnknown("Pruning", options, ofPrune);
}

export function checkBudgetOptions(options: BudgetOptions): void {
  checkLimits(options, ofNewLimit);
}

function checkTeam(team: unknown): void {
  const { definition, phases } = (team ?? {}) as Partial<Team>;
  if (definition === undefined || phases === undefined)
    throw new TeamInvalid("The team is not a team definition.", {
      advice: "Pass the result of defineTeam or loadTeam.",
    });
}

export function checkTeams(teams: readonly Team[]): void {
  if (!Array.isArray(teams))
    throw new InputInvalid("teams is not a list.", { advice: "Write: open({ teams: [team] })" });
  const names = new Set<string>();
  for (const team of teams as readonly Team[]) {
    checkTeam(team);
    if (names.has(team.name))
      throw new TeamInvalid(`Two teams have the name "${team.name}".`, {
        advice: "Rename one of them: sessions find their team by its name.",
      });
    names.add(team.name);
  }
}

/** Runs before anything is recorded: a session with an invalid limit could never be driven. */
function checkLimits(limits: Limits, known: Readonly<Record<string, true>>): void {
  refuseUnknown("A budget", limits, known);
  const { tokens, usd } = limits;
  if (isGiven(tokens) && !(Number.isSafeInteger(tokens) && tokens > 0))
    throw refusedLimit("tokens", tokens, "a whole number above 0");
  if (isGiven(usd) && !(typeof usd === "number" && usd >= leastUsd && usd <= mostUsd))
    throw refusedLimit("usd", usd, `an amount of dollars from ${leastUsd} to ${mostUsd}`);
}

function checkPhases(phases: Readonly<Record<string, GivenOptions | undefined>>): void {
  for (const [name, phase] of Object.entries(phases))
    if (phase !== undefined) refuseUnknown(`The given phase "${name}"`, phase, ofGift);
}

const isGiven = (limit: number | null | undefined): limit is number => limit !== undefined && limit !== null;

const refusedLimit = (unit: string, value: unknown, must: string): InputInvalid =>
  new InputInvalid(`A budget has ${unit} of ${JSON.stringify(value)}; it must be ${must}.`);

/** Checks the `providers` of `open`. */
export function checkProviders(own: Readonly<Record<string, OwnProvider>>): void {
  for (const [name, create] of Object.entries(own)) {
    const wrong = typeof create === "function" ? checkProviderName(name) : "it is not a function";
    if (wrong === undefined) continue;
    throw new InputInvalid(`providers.${name} cannot be used: ${wrong}.`, {
      advice: "Write: open({ providers: { acme: (id) => model } })",
      details: { provider: name },
    });
  }
}
