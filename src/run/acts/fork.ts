import { advise } from "../../domain/advice.ts";
import { type Amount, add, noAmount } from "../../domain/budget.ts";
import { canonicalJson } from "../../domain/canonical.ts";
import { InputInvalid, SessionConflict } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";
import type { ReservationId } from "../../domain/ledger.ts";
import { totalTokens } from "../../domain/usage.ts";
import {
  copiedEpoch,
  type ForkOrigin,
  type PaidAmount,
  type PersonaSpent,
  type PhaseContent,
  type Transition,
} from "../../journal/journal.ts";
import {
  isAccepted,
  isFromOutside,
  type PersonaState,
  type SessionState,
  staysGiven,
} from "../../journal/session-state.ts";
import type { RunSample } from "../../store/reports.ts";
import { readState } from "../../store/session-journal.ts";
import type { CopiedRow, SessionRecord, Store } from "../../store/store.ts";
import type { Team } from "../../team/define.ts";
import {
  changedPersonas,
  describeChanges,
  joinedPhases,
  rejudgedPhases,
  rewiredPhases,
} from "../../team/definition/changes.ts";
import { teamFingerprint } from "../../team/definition/fingerprint.ts";
import { refuseBlocking } from "../../team/definition/integration.ts";
import { ancestorsOf, dependentsOf, orderPhases } from "../../team/definition/order.ts";
import { recordedDefinition } from "../../team/definition/recorded.ts";
import type { TeamDefinition } from "../../team/definition/team-definition.ts";
import { unknownPhase } from "../direction.ts";
import type { OpenState } from "../drive.ts";
import { createSession } from "./create-session.ts";
import { editPhase, type PhaseEdit } from "./phase-edit.ts";
import { refuseUnsettled } from "./repeat-effects.ts";

export interface ForkRequest {
  readonly at: string;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  readonly fresh?: boolean;
  /** Effects that happened in phases that run again may happen again. */
  readonly repeatEffects?: boolean;
  readonly model?: string;
  readonly key?: string;
}

/**
 * Creates a fork in one transaction: copies of its parent's rows, with their seq, and a row that sets it apart. The fork
 * no longer needs its parent. It is not driven yet.
 */
export async function makeFork(
  parentId: SessionId,
  team: Team,
  request: ForkRequest,
  state: OpenState,
): Promise<SessionRecord> {
  const { store, artifacts } = state;
  const { at, edits = {}, fresh = false, repeatEffects = false, key } = request;
  const parent = await readState(store, parentId);
  const edited: PhaseContent[] = [];
  const stored: string[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    const { content, artifacts: files } = await editPhase(team.definition, parent, name, edit, artifacts);
    edited.push(content);
    stored.push(...files);
  }
  const fork: ForkOrigin = { session: parentId, at, fresh, edited };
  checkFork(team.definition, parent, fork);
  const { brief, attachments, teamFile, decisions, source } = parent.created;
  const { given, budget } = parent.begun;
  const model = request.model ?? parent.created.model ?? team.definition.model ?? undefined;
  const row = forkedRow(team.definition, parent, fork, await costOfPersonas(store, parent));
  const forked = repeatEffects ? { ...row, repeatEffects: true as const } : row;
  const { session } = await createSession(
    team,
    {
      brief,
      ...(key !== undefined && { key }),
      ...(model !== undefined && { model }),
      // The path in an import is one of another machine.
      ...(teamFile !== undefined && parent.imported === undefined && { teamFile }),
      queue: parent.created.queue,
      priority: parent.created.priority,
    },
    { kind: "none" },
    {
      fork,
      artifacts: stored,
      ...(source !== undefined && { source }),
      ...(attachments !== undefined && { attachments }),
      ...(given !== undefined && { given }),
      ...(budget !== undefined && { budget }),
      ...(decisions !== undefined && { decisions }),
      history: {
        copied: await rowsOf(store, parent, new Set([...forked.kept, ...forked.known])),
        appended: [forked],
        artifactsOf: parentId,
      },
    },
    state,
  );
  if (key !== undefined) refuseOtherFork(session, fork, model, await readState(store, session.id));
  return session;
}

/** All rows of the parent except the first and the steps of phases that the fork drops. */
async function rowsOf(store: Store, { id, head, phases, removed }: SessionState, known: ReadonlySet<string>) {
  const unknown = new Set(
    [...phases, ...removed].flatMap(([name, { personas }]) =>
      known.has(name)
        ? []
        : [...personas.values()].flatMap(({ attempts }) => attempts.map(({ started }) => started)),
    ),
  );
  const copied: CopiedRow[] = [];
  for await (const page of store.readJournal(id, 1)) {
    for (const { kind, attempt, occurrence, fingerprint, name, body, seq, at } of page) {
      if (seq > head.seq || (attempt !== null && unknown.has(attempt))) continue;
      copied.push({ kind, attempt, occurrence, fingerprint, name, body, seq, at, epoch: copiedEpoch });
    }
  }
  return copied;
}

/** The cost of each persona's result, including results that the parent itself reused. */
async function costOfPersonas(store: Store, parent: SessionState): Promise<readonly PersonaSpent[]> {
  const amounts = new Map<string, PaidAmount[]>();
  const count = ({ phase, persona, model, spent }: RunSample) => {
    const known = amounts.get(`${phase} ${persona}`) ?? [];
    known.push({ model, ...spent });
    amounts.set(`${phase} ${persona}`, known);
  };
  for await (const call of paidCalls(store, parent.id)) count(call);
  for (const reused of await store.reports.reused(parent.id)) count(reused);
  const costOf = (phase: string, persona: string, { result, attempts, candidate }: PersonaState) => {
    const worked = result !== undefined && attempts.length > 0;
    return (worked ? amounts.get(`${phase} ${persona}`) : candidate?.spent) ?? [];
  };
  return [...parent.phases, ...parent.removed].flatMap(([phase, { personas }]) =>
    [...personas].flatMap(([persona, known]) => {
      const spent = sumByModel(costOf(phase, persona, known));
      return spent.length === 0 ? [] : [{ phase, persona, amounts: spent }];
    }),
  );
}

function sumByModel(amounts: readonly PaidAmount[]): PaidAmount[] {
  return [...Map.groupBy(amounts, ({ model }) => model)].map(([model, calls]) => {
    const { tokens, microUsd } = calls.reduce<Amount>(add, noAmount);
    return { model, tokens, microUsd };
  });
}

/** A fork has the team and the brief of its parent, so the key must also mean the same fork. */
function refuseOtherFork(
  { id, key }: SessionRecord,
  fork: ForkOrigin,
  model: string | undefined,
  { begun }: SessionState,
): void {
  const asText = (origin: ForkOrigin | undefined, chosen: string | undefined): string =>
    canonicalJson([origin ?? null, chosen ?? null] as unknown as Json);
  if (asText(begun.fork, begun.model) === asText(fork, model)) return;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which is not this fork.`, {
    details: { key, session: id },
    advice: "Use another key for the fork.",
  });
}

/**
 * Phases that a fork takes over unchanged: all that its first phase depends on, the edited ones, completed phases of other
 * branches that neither an edit nor a change of the team can reach, and phases from outside, unless a new persona has to
 * work there or the fork starts there.
 */
export function takenOver(
  definition: TeamDefinition,
  parent: SessionState,
  fork: ForkOrigin,
): readonly string[] {
  const order = orderPhases(definition);
  if (!order.includes(fork.at)) throw unknownPhase(fork.at, order);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  const isLeftToJoined = (name: string) => joinedPersonas(definition, parent, name).length > 0;
  const before = ancestorsOf(definition, fork.at).filter((name) => !isLeftToJoined(name));
  const kept = new Set([...before, ...edited]);
  const again = from(definition, fork);
  const changed = changedPhases(recordedDefinition(parent.created.definition), definition);
  const phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  for (const name of order) {
    const phase = parent.phases.get(name);
    const { dependsOn = [], personas = [] } = phases.get(name) ?? {};
    const isAsItWas = isAccepted(phase) && !changed.has(name) && !again.has(name);
    const isGiven = name !== fork.at && staysGiven(phase, personas);
    if (isGiven || (isAsItWas && dependsOn.every((other) => kept.has(other) && !edited.has(other))))
      kept.add(name);
  }
  return order.filter((name) => kept.has(name));
}

/** Personas of a phase from outside that have no given result, because they joined the team later. */
function joinedPersonas({ phases }: TeamDefinition, parent: SessionState, name: string): readonly string[] {
  const phase = parent.phases.get(name);
  if (!isFromOutside(phase)) return [];
  const { personas = [] } = phases.find((one) => one.name === name) ?? {};
  return personas.map((one) => one.name).filter((one) => phase?.personas.get(one)?.result === undefined);
}

const from = (definition: TeamDefinition, { at }: ForkOrigin): ReadonlySet<string> =>
  new Set([at, ...dependentsOf(definition, at)]);

/** Refusals come before the fork exists. */
export function checkFork(definition: TeamDefinition, parent: SessionState, fork: ForkOrigin): void {
  refuseUnsettled(parent);
  const kept = takenOver(definition, parent, fork);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  for (const name of kept) refuseContradiction(definition, name, { parent, fork, kept, edited });
  for (const name of kept) {
    const phase = parent.phases.get(name);
    // An edit counts as an approval.
    if (isAccepted(phase) || (phase?.status === "completed" && edited.has(name))) continue;
    throw new InputInvalid(`Session ${parent.id} has no accepted result of phase ${name} to take over.`, {
      details: { session: parent.id, phase: name },
      advice: `Fork at ${name} or before, or complete that phase first.`,
    });
  }
  refuseChanged(definition, parent, kept);
  if (teamFingerprint(definition) !== parent.created.teamFingerprint) refuseBlocking(definition);
}

/** A phase that is taken over does not run, so that a change of its definition would have no effect. */
function refuseChanged(definition: TeamDefinition, parent: SessionState, kept: readonly string[]): void {
  const { id, created, phases } = parent;
  const before = recordedDefinition(created.definition);
  const changed = changedPhases(before, definition);
  const joined = (name: string) => joinedPersonas(definition, parent, name);
  const name = kept.find(
    (name) => changed.has(name) && (joined(name).length > 0 || !isFromOutside(phases.get(name))),
  );
  if (name === undefined) return;
  const all = describeChanges(before, definition);
  const own = all.filter((change) => change.startsWith(`phase ${name}: `));
  const changes = own.length > 0 ? own : all;
  throw new InputInvalid(
    `Phase ${name} has changed since it ran, and the fork would take it over: ${changes.join("; ")}.`,
    {
      details: { session: id, phase: name, changes },
      advice:
        joined(name).length > 0
          ? `Fork without the edit of ${name}, so that its new personas work on the given files.`
          : [
              advise("Undo the change."),
              advise("Or run the phase again", "fork", id, "--at", name, "--team", "<file>"),
            ],
    },
  );
}

/** Phases whose results may differ with the new team. */
function changedPhases(before: TeamDefinition, after: TeamDefinition): ReadonlySet<string> {
  return new Set([
    ...changedPersonas(before, after).map(({ phase }) => phase),
    ...joinedPhases(before, after),
    ...rejudgedPhases(before, after),
    ...rewiredPhases(before, after),
  ]);
}

/** A phase is taken over only with unchanged dependencies: an edit of one of them would have no effect. */
function refuseContradiction(
  definition: TeamDefinition,
  name: string,
  {
    parent,
    fork: { at },
    kept,
    edited,
  }: {
    readonly parent: SessionState;
    readonly fork: ForkOrigin;
    readonly kept: readonly string[];
    readonly edited: ReadonlySet<string>;
  },
): void {
  // A phase from outside does not use the phases of this session.
  if (isFromOutside(parent.phases.get(name))) return;
  const { id } = parent;
  const before = ancestorsOf(definition, name);
  const changed = before.find((other) => edited.has(other));
  if (changed !== undefined)
    throw new InputInvalid(
      `Phase ${name} depends on ${changed}, which is edited, and the fork would take it over unchanged.`,
      {
        details: { session: id, at, phase: name, edited: changed },
        advice: advise("Run it again", "fork", id, "--at", name, "--edit", `${changed}=<file>`),
      },
    );
  const anew = before.find((other) => !kept.includes(other));
  if (anew === undefined) return;
  const joined = joinedPersonas(definition, parent, anew);
  if (joined.length > 0 && !edited.has(name))
    throw new InputInvalid(
      `Phase ${name} ran before ${joined.join(", ")} joined phase ${anew}, and the fork would take it over unchanged.`,
      {
        details: { session: id, at, phase: name, joined },
        advice: advise(
          "Run it again",
          "fork",
          id,
          "--at",
          dependentsOf(definition, anew)[0] ?? name,
          "--team",
          "<file>",
        ),
      },
    );
  const [after] = dependentsOf(definition, name);
  throw new InputInvalid(`Phase ${name} is edited and depends on ${anew}, which would run again.`, {
    details: { session: id, at, phase: name },
    advice:
      after === undefined
        ? advise(`No phase depends on ${name}: edit it in place`, "resume", id, "--edit", `${name}=<file>`)
        : advise("Fork at the phase after it", "fork", id, "--at", after, "--edit", `${name}=<file>`),
  });
}

/** The row that sets a fork apart from the parent whose rows it has. */
export function forkedRow(
  definition: TeamDefinition,
  parent: SessionState,
  fork: ForkOrigin,
  spent: readonly PersonaSpent[],
): Extract<Transition, { kind: "session.forked" }> {
  const kept = takenOver(definition, parent, fork);
  const afresh = fork.fresh ? from(definition, fork) : new Set();
  const known = orderPhases(definition).filter((name) => !kept.includes(name) && !afresh.has(name));
  const fingerprint = teamFingerprint(definition);
  const row = { kind: "session.forked", teamFingerprint: fingerprint, from: fork.at } as const;
  return { ...row, kept, known, edited: fork.edited, spent };
}

/** Every call of a session with a known cost, in pages. */
export async function* paidCalls(store: Store, id: SessionId): AsyncGenerator<RunSample> {
  for (let after: ReservationId | undefined; ; ) {
    const calls = await store.reports.calls(id, after === undefined ? {} : { after });
    if (calls.length === 0) return;
    for (const call of calls) {
      after = call.reservation;
      if (call.status === "open" || call.usage === null) continue;
      const { phase, persona, model, usage, costMicroUsd } = call;
      yield { phase, persona, model, spent: { tokens: totalTokens(usage), microUsd: costMicroUsd } };
    }
  }
}
