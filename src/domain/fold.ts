import { changePhases, setAside } from "./change-phases.ts";
import { recordedDecisions } from "./decision.ts";
import { beginAttempt, endAttempt, giveUp, grantRounds } from "./fold-attempts.ts";
import type { PhaseContent, RecordedRow, Transition } from "./journal.ts";
import { decodeTransition, isStep } from "./journal-codec.ts";
import type { Message } from "./message.ts";
import { revisionsNow, setBack } from "./phase-revisions.ts";
import { outageBody, RecordedSteps } from "./recorded-steps.ts";
import {
  acceptBefore,
  applyCheckpoint,
  hasItsPast,
  type RestoredCheckpoint,
  takeFiles,
} from "./restored-checkpoint.ts";
import { awaiting, editOf, reject } from "./send-back.ts";
import { type Completed, type PhaseSource, personaOf, phaseOf, type SessionState } from "./session-state.ts";
import { takeWords } from "./take-words.ts";

/** A row that happened now. The run that made a step will not ask for it again, but its next attempt may. */
export function applyLive(state: SessionState, row: RecordedRow): void {
  apply(state, row, { stepsAreUsed: true });
}

/** A row read back: its step may be asked for again. */
export function applyRecorded(state: SessionState, row: RecordedRow): void {
  apply(state, row, { stepsAreUsed: false });
}

/** Steps are kept by position while their attempt runs; their bodies stay on disk. */
function apply(state: SessionState, row: RecordedRow, { stepsAreUsed }: { stepsAreUsed: boolean }): void {
  advance(state, row);
  if (!isStep(row)) return applyTransition(state, decodeTransition(row), row);
  const started = row.attempt as number;
  const running = state.running.get(started);
  // A step that a fork brought with it was not run here.
  if (running === undefined) return state.inheritedSteps.get(started)?.add(row, false);
  state.stepCount += 1;
  state.recoveries = 0;
  running.steps.add(row, stepsAreUsed);
  if (isProgress(row)) running.attempt.hasProgressed = true;
}

/** What was done about a failure, or to judge the work, is none. */
const noProgress: ReadonlySet<string> = new Set(["step.heal", "step.check", "step.wait"]);
const isProgress = ({ kind, body }: RecordedRow): boolean =>
  !noProgress.has(kind) && !body.startsWith(outageBody);

function advance(state: SessionState, { seq, hash, epoch, at }: RecordedRow): void {
  if (epoch !== state.epoch) state.inherited = state.head;
  state.head = { seq, hash };
  state.epoch = epoch;
  state.updatedAt = at;
}

function applyTransition(state: SessionState, entry: Transition, row: RecordedRow): void {
  const { seq, hash, at } = row;
  const head = { seq, hash, at };
  switch (entry.kind) {
    case "session.created":
      state.created = entry;
      state.begun = entry;
      state.createdHead = head;
      state.copied = entry.fork === undefined;
      if (entry.budget !== undefined) state.budgets.set("session", entry.budget);
      completeGiven(state, head);
      takeWords(state, entry.fork);
      return;
    case "session.restored":
      for (const checkpoint of entry.checkpoints)
        restore(state, checkpoint as unknown as RestoredCheckpoint, head);
      setAside(state, state.created.definition);
      state.copied = hasItsPast(state);
      state.restoredSeq = entry.head.seq;
      return;
    case "session.claimed":
      return applyClaim(state, entry);
    case "session.directed": {
      const { kind: _, ...direction } = entry;
      state.direction = direction;
      return;
    }
    case "session.status":
      state.status = entry.status;
      state.reason = entry.reason;
      state.error = entry.error;
      state.stoodFor = undefined;
      if (entry.ticket !== undefined) state.tickets = entry.tickets ?? [entry.ticket];
      state.wakeAt = entry.wakeAt;
      state.messages = [];
      if (entry.reason === "help" || entry.status === "failed") state.awaitsPerson = true;
      return;
    case "team.changed":
      state.teamChanged = true;
      state.created = {
        ...state.created,
        definition: entry.definition,
        teamFingerprint: entry.teamFingerprint,
        ...(entry.decisions !== undefined && { decisions: entry.decisions }),
      };
      changePhases(state, entry);
      return;
    case "decision.recorded": {
      const { kind: _, ...decision } = entry;
      state.decisions.push({ ...decision, at });
      return;
    }
    case "message.received":
      return applyMessage(state, entry.message);
    case "phase.started": {
      const phase = phaseOf(state, entry.phase);
      phase.status = "running";
      phase.base = entry.tree;
      phase.clashes = entry.clashes ?? [];
      return;
    }
    case "group.merged":
      phaseOf(state, entry.phase).groups.set(entry.group, entry.tree);
      return;
    case "phase.completed": {
      const phase = phaseOf(state, entry.phase);
      phase.status = "completed";
      phase.completed = completedAt(state, head);
      phase.tree = entry.tree;
      phase.edit = entry.edit;
      phase.gate = entry.gate;
      phase.checks = entry.checks ?? [];
      phase.awaitedReview = entry.awaitsReview === true;
      phase.review = phase.awaitedReview ? "awaiting" : "none";
      return;
    }
    case "phase.edited": {
      const phase = phaseOf(state, entry.phase);
      phase.revision += 1;
      phase.edit = editOf(phase, entry.tree);
      completeWith(state, entry, { kind: "edited" }, head);
      phase.review = "approved";
      return;
    }
    case "phase.inherited": {
      const phase = phaseOf(state, entry.phase);
      phase.revision = entry.revision;
      phase.notes = [...(entry.notes ?? [])];
      const { origin } = entry;
      const source: PhaseSource = origin === undefined ? { kind: "inherited" } : { kind: "given", origin };
      completeWith(state, entry, source, head);
      phase.given = entry.given ?? phase.given;
      phase.edit = entry.edit;
      for (const [name, persona] of phase.personas) {
        persona.reused = true;
        takeFiles(persona, entry.personas[name]);
      }
      return;
    }
    case "persona.inherited": {
      const { kind: _, ...candidate } = entry;
      const steps = RecordedSteps.from(seq);
      state.inheritedSteps.set(seq, steps);
      const phase = phaseOf(state, entry.phase);
      if (entry.notes !== undefined) phase.notes = [...entry.notes];
      phase.edit = entry.edit ?? phase.edit;
      phase.given = entry.given ?? phase.given;
      const persona = personaOf(state, entry.phase, entry.persona);
      persona.candidate = { ...candidate, steps };
      if (entry.result === undefined || entry.input !== undefined) return;
      persona.result = entry.result;
      persona.reused = true;
      takeFiles(persona, entry);
      return;
    }
    case "budget.alerted":
      return;
    case "fork.copied":
      state.copied = true;
      return;
    case "persona.reused": {
      const persona = personaOf(state, entry.phase, entry.persona);
      giveUp(state, persona, at);
      persona.inheritance = undefined;
      persona.result = persona.candidate?.result;
      persona.base = persona.candidate?.base;
      persona.tree = persona.candidate?.tree;
      persona.checks = persona.candidate?.checks ?? [];
      persona.input = entry.input;
      persona.reused = true;
      return;
    }
    case "checkpoint.sealed": {
      const phase = phaseOf(state, entry.phase);
      phase.checkpoint = { revision: entry.revision, sha256: entry.sha256 };
      phase.usage = entry.usage ?? [];
      addSeal(state, entry, { ...head, at: phase.completed?.at ?? at });
      return;
    }
    case "attempt.started":
      return beginAttempt(state, entry, row);
    case "attempt.completed": {
      const { persona, attempt } = endAttempt(state, entry.started);
      attempt.status = "completed";
      attempt.endedAt = at;
      attempt.tree = entry.tree ?? attempt.tree;
      attempt.checks = entry.checks ?? [];
      attempt.healing = entry.healing ?? (entry.healed === undefined ? [] : [entry.healed]);
      persona.result = entry.result;
      persona.base = attempt.base;
      persona.tree = attempt.tree;
      persona.checks = attempt.checks;
      persona.input = attempt.input;
      persona.beginning = undefined;
      persona.leftover = undefined;
      state.recoveries = 0;
      for (const decision of recordedDecisions(entry.result.decisions))
        state.decisions.push({ ...decision, phase: entry.phase, persona: entry.persona, at });
      return;
    }
    case "attempt.failed": {
      const { persona, attempt, steps } = endAttempt(state, entry.started);
      const continues = "continues" in entry.next && entry.next.continues;
      if (continues) persona.inheritance = steps.inherit(entry.failedStep);
      // Its own answers, or those it got from the record, led to nothing: who tries again asks anew.
      else persona.leftover = undefined;
      attempt.status = "failed";
      attempt.endedAt = at;
      attempt.failure = entry.failure;
      attempt.next = entry.next;
      attempt.checks = entry.checks ?? [];
      attempt.healing = entry.healing ?? [];
      const began = attempt.tree;
      attempt.tree = entry.tree ?? attempt.tree;
      // Who continues rebuilds its files from the steps; a new round starts on the clean tree of the phase, and as its
      // team wrote it: what healing changed about the way to work is over with the round that it did not help.
      const goesOn = continues || entry.next.kind === "attempt";
      const tree = continues ? began : goesOn ? attempt.tree : attempt.base;
      const { settings: before, ...rest } = persona.beginning ?? {};
      // Whatever it is that a person mended, a key above all: what the team wants first is tried first again.
      const isRefused = entry.next.kind === "help" && !entry.failure.recoverable;
      const settings = goesOn && !isRefused ? (entry.settings ?? before) : undefined;
      persona.beginning = { ...rest, tree, ...(settings !== undefined && { settings }) };
      return;
    }
    case "attempt.reopened": {
      const persona = personaOf(state, entry.phase, entry.persona);
      const attempt = persona.attempts.findLast(({ started }) => started === entry.started);
      if (attempt !== undefined) {
        attempt.status = "failed";
        attempt.failure = entry.failure;
        attempt.next = entry.next;
      }
      persona.result = undefined;
      persona.reused = false;
      const { group, merged, tree, base, unmerged = [] } = entry;
      persona.reopened = { at: seq, group, merged, tree, unmerged };
      persona.beginning = { base, tree, ...(attempt === undefined && { reasons: [entry.failure] }) };
      return;
    }
    case "dependency.waiting":
      return;
    case "attempt.diverged":
      state.running.get(entry.started)?.steps.keepOnly(entry.kept);
      return;
  }
}

function applyClaim(state: SessionState, entry: Extract<Transition, { kind: "session.claimed" }>): void {
  // Only to act on a word, or too late: a cancel is final.
  if (entry.cause === "message" || state.status === "canceled") return;
  const { reason, error } = state;
  if (reason === "help" || reason === "budget") state.stoodFor = { reason, ...(error && { error }) };
  state.status = "running";
  state.reason = undefined;
  state.error = undefined;
  if (entry.cause === "recovery") state.recoveries += 1;
  else if (entry.cause === "resume" || !state.awaitsPerson) state.recoveries = 0;
  if (entry.cause !== "resume") return;
  if (state.awaitsPerson) grantRounds(state);
  state.awaitsPerson = false;
  // Who resumes takes back a pause, never a cancel.
  state.messages = state.messages.filter(({ say }) => say === "cancel");
}

function applyMessage(state: SessionState, message: Message): void {
  switch (message.say) {
    case "pause":
    case "cancel":
      state.messages.push(message);
      return;
    case "approve":
      for (const phase of awaiting(state, message.phase)) phase.review = "approved";
      return;
    case "reject":
      for (const phase of awaiting(state, message.phase)) reject(phase, message.note);
      return;
    case "budget": {
      const name = `${message.level} ${message.name ?? ""}`.trim();
      state.budgets.set(name, { ...state.budgets.get(name), ...message.budget });
      return;
    }
  }
}

/** In the order in which they were sealed: a later one knows which of the earlier ones counted no longer. */
function restore(
  state: SessionState,
  checkpoint: RestoredCheckpoint,
  head: SessionState["createdHead"],
): void {
  if (checkpoint.phase !== "init") {
    setBack(state, checkpoint);
    acceptBefore(state, checkpoint);
    addSeal(state, checkpoint, { ...head, at: checkpoint.createdAt });
  }
  applyCheckpoint(state, checkpoint);
  if (checkpoint.phase !== "init") return;
  completeGiven(state, state.createdHead);
  takeWords(state, state.created.fork);
}

function addSeal(
  { seals }: SessionState,
  { phase, revision, sha256 }: Pick<RestoredCheckpoint, "phase" | "revision" | "sha256">,
  { seq, at }: SessionState["createdHead"],
): void {
  seals.set(`${phase} ${revision}`, { phase, revision, sha256, seq, at });
}

/** What came from outside is there from the start. */
function completeGiven(state: SessionState, head: SessionState["createdHead"]): void {
  for (const given of state.created.given ?? [])
    completeWith(state, given, { kind: "given", origin: given.origin }, head);
}

function completedAt(state: SessionState, head: SessionState["createdHead"]): Completed {
  const { created, teamChanged, budgets } = state;
  const { teamFingerprint, definition } = created;
  const revisions = revisionsNow(state);
  return {
    ...head,
    teamFingerprint,
    ...(teamChanged && { definition }),
    ...(budgets.size > 0 && { budgets: Object.fromEntries(budgets) }),
    ...(Object.keys(revisions).length > 0 && { revisions }),
  };
}

/** A phase that is done without work of this session. */
function completeWith(
  state: SessionState,
  { phase: name, results, base, tree, gate, checks = [] }: PhaseContent,
  source: PhaseSource,
  head: SessionState["createdHead"],
): void {
  const phase = phaseOf(state, name);
  phase.status = "completed";
  phase.completed = completedAt(state, head);
  phase.checkpoint = undefined;
  // Who edits it does not change what it began with.
  phase.base = base ?? phase.base;
  phase.tree = tree;
  phase.gate = gate;
  phase.checks = checks;
  phase.review = "none";
  phase.awaitedReview = false;
  phase.source = source;
  if (source.kind === "given")
    phase.given = { origin: source.origin, ...(base && { base }), ...(tree && { tree }) };
  for (const [persona, result] of Object.entries(results)) {
    const found = personaOf(state, name, persona);
    found.result = result;
    // Whoever consumes it sees all the files that came with it.
    if (source.kind === "given") takeFiles(found, { ...(base && { base }), ...(tree && { tree }) });
  }
}
