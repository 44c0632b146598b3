import { alertText } from "../../domain/alert-text.ts";
import type { GateResult } from "../../domain/contract.ts";
import type { StepKind } from "../../domain/journal.ts";
import type { Json } from "../../domain/json.ts";
import { plannedPhases } from "../../domain/planned.ts";
import type { SessionEvent } from "../../index.ts";
import { plain } from "../terminal/words.ts";
import { type LivePersona, type LivePhase, type LiveSession, newLivePersona } from "./live-state.ts";

const mostWarnings = 3;
const textTail = 60;

/** What the event changes on the screen. An event that was seen before changes nothing. */
export function applyEvent(session: LiveSession, event: SessionEvent): void {
  if ("seq" in event) {
    if (event.seq <= session.seq) return;
    session.seq = event.seq;
  }
  switch (event.kind) {
    case "session.created":
      session.team = event.team;
      session.brief = event.brief;
      session.model = event.model;
      session.createdAt = event.at;
      plan(session, event.definition);
      for (const { phase } of event.given ?? [])
        completePhase(session, phase, event.at, "given from outside");
      break;
    case "team.changed":
      plan(session, event.definition);
      for (const phase of event.reset) resetPhase(session, phase);
      break;
    case "session.claimed":
      if (event.cause === "message") break;
      session.status = "running";
      session.reason = undefined;
      session.wakeAt = undefined;
      session.endedAt = undefined;
      session.claimedAt = event.at;
      break;
    case "session.status":
      session.status = event.status;
      session.reason = event.reason;
      session.wakeAt = event.wakeAt;
      session.endedAt = event.at;
      break;
    case "message.received":
      if (event.message.say === "approve") approve(session, event.message.phase);
      if (event.message.say === "reject") reject(session, event.message.phase);
      break;
    case "phase.started":
      onPhase(session, event.phase, (phase) => {
        phase.status = "running";
        phase.startedAt = event.at;
        phase.endedAt = undefined;
      });
      break;
    case "phase.completed":
      onPhase(session, event.phase, (phase) => {
        phase.status = "completed";
        phase.endedAt = event.at;
        phase.review = event.awaitsReview ? "awaiting" : "none";
        phase.gate = event.gate === undefined ? undefined : describeGate(event.gate);
      });
      break;
    case "phase.edited":
      completePhase(session, event.phase, event.at, "edited by a person");
      break;
    case "phase.inherited":
      completePhase(session, event.phase, event.at, "taken over");
      break;
    case "persona.reused":
      onPersona(session, event, (persona) => {
        persona.status = "reused";
        persona.activity = "nothing it reads has changed";
      });
      break;
    case "attempt.started":
      onPersona(session, event, (persona) => {
        persona.status = "running";
        persona.round = event.round;
        persona.attempt = event.attempt;
        persona.startedAt ??= event.at;
        persona.endedAt = undefined;
        persona.until = undefined;
        persona.doing = undefined;
        persona.activity = "begins";
      });
      break;
    case "step.began":
      onWorking(session, event.persona, (persona) => {
        persona.until = undefined;
        persona.doing = { step: event.step, since: event.at };
        persona.activity = describeBegun(event.step, event.name);
      });
      break;
    case "step":
      onPersona(session, event, (persona) => {
        persona.status = "running";
        persona.until = undefined;
        const asked = persona.doing?.step === "model" || event.name === session.model;
        persona.doing = undefined;
        persona.activity = asked ? "the model has answered" : event.name;
      });
      break;
    case "wait":
      onPersona(session, event, (persona) => {
        persona.activity = "waits";
        persona.doing = undefined;
        persona.until = event.until;
      });
      break;
    case "dependency.waiting":
      onPersona(session, event, (persona) => {
        persona.status = "waiting";
        persona.until = event.until;
        persona.activity = `waits for ${event.dependency}`;
      });
      warn(session, `${event.dependency} does not answer; its breaker is open`);
      break;
    case "attempt.completed":
      onPersona(session, event, (persona) => {
        persona.status = "completed";
        persona.endedAt = event.at;
        persona.until = undefined;
        const { healed } = event;
        persona.activity = healed === undefined ? event.result.summary : `healed: ${healed.action}`;
      });
      break;
    case "attempt.failed":
    case "attempt.reopened":
      onPersona(session, event, (persona) => {
        const { next } = event;
        persona.status = "wait" in next ? "waiting" : "failed";
        persona.until = "wait" in next ? next.wait.notBefore : undefined;
        persona.endedAt = event.at;
        persona.activity = event.failure.message;
      });
      break;
    case "text":
      onWorking(session, event.persona, (persona) => {
        const said = persona.activity.startsWith("“") ? persona.activity.slice(1) : "";
        persona.activity = `“${(said + event.delta).replaceAll(/\s+/g, " ").slice(-textTail)}`;
      });
      break;
    case "log":
      onWorking(session, event.persona, (persona) => {
        persona.activity = event.message;
      });
      break;
    case "budget.alerted":
      warn(session, alertText(event.alert));
      break;
    // Not seen on the screen, or by what comes with them.
    case "session.restored":
    case "session.directed":
    case "fork.copied":
    case "persona.inherited":
    case "group.merged":
    case "checkpoint.sealed":
    case "decision.recorded":
    case "attempt.diverged":
      break;
  }
}

function plan(session: LiveSession, definition: Json): void {
  const known = new Map(session.phases.map((phase) => [phase.name, phase]));
  session.phases = plannedPhases(definition).map(({ name, personas }): LivePhase => {
    const before = known.get(name);
    const members = personas.map(
      (persona) =>
        before?.personas.find((member) => member.name === persona.name) ?? newLivePersona(persona.name),
    );
    if (before !== undefined) return { ...before, personas: members };
    return {
      name,
      status: "pending",
      review: "none",
      gate: undefined,
      startedAt: undefined,
      endedAt: undefined,
      personas: members,
    };
  });
}

function describeGate({ score, threshold, verdict }: GateResult): LivePhase["gate"] {
  if (threshold === undefined || score === undefined) return undefined;
  return { passed: verdict !== "failed", text: `gate ${score.toFixed(2)} of ${threshold.toFixed(2)}` };
}

function completePhase(session: LiveSession, name: string, at: number, why: string): void {
  onPhase(session, name, (phase) => {
    phase.status = "completed";
    phase.review = "none";
    phase.startedAt ??= at;
    phase.endedAt = at;
    for (const persona of phase.personas) {
      if (persona.status === "completed") continue;
      persona.status = "reused";
      persona.activity = why;
    }
  });
}

function resetPhase(session: LiveSession, name: string): void {
  onPhase(session, name, (phase) => {
    phase.status = "pending";
    phase.review = "none";
    phase.gate = undefined;
    phase.personas = phase.personas.map((persona) => newLivePersona(persona.name));
  });
}

function approve(session: LiveSession, name: string | undefined): void {
  for (const phase of awaiting(session, name)) phase.review = "approved";
}

function reject(session: LiveSession, name: string | undefined): void {
  for (const phase of awaiting(session, name)) resetPhase(session, phase.name);
}

const awaiting = ({ phases }: LiveSession, name: string | undefined): LivePhase[] =>
  phases.filter((phase) => phase.review === "awaiting" && (name === undefined || phase.name === name));

function onPhase(session: LiveSession, name: string, change: (phase: LivePhase) => void): void {
  const phase = session.phases.find((candidate) => candidate.name === name);
  if (phase !== undefined) change(phase);
}

function onPersona(
  session: LiveSession,
  { phase, persona: name }: { readonly phase: string; readonly persona: string },
  change: (persona: LivePersona) => void,
): void {
  onPhase(session, phase, ({ personas }) => {
    const persona = personas.find((candidate) => candidate.name === name);
    if (persona !== undefined) change(persona);
  });
}

/** Unrecorded events do not say the phase; it is the one that runs. */
function onWorking(session: LiveSession, name: string, change: (persona: LivePersona) => void): void {
  for (const { status, personas } of session.phases) {
    const persona = personas.find((candidate) => candidate.name === name && candidate.status === "running");
    if (status === "running" && persona !== undefined) change(persona);
  }
}

function describeBegun(step: StepKind, name: string): string {
  switch (step) {
    case "model":
      return `asks ${name}`;
    case "check":
      return `checks ${name}`;
    case "command":
      return `runs ${name.replace(/^command\//, "")}`;
    case "function":
    case "tool":
    case "heal":
    case "wait":
      return name;
  }
}

function warn(session: LiveSession, warning: string): void {
  const others = session.warnings.filter((other) => other !== plain(warning));
  session.warnings = [...others, plain(warning)].slice(-mostWarnings);
}
