import { useState } from "react";
import type { PersonaView, PhaseView, SessionView } from "../api/types.ts";
import { count, counted } from "../format/count.ts";
import { heldWord } from "../sentences/activity.ts";
import { runWord, type StatusWord } from "../sentences/status-word.ts";
import type { Selection } from "../url/session-url.ts";

/** A persona that waits for its next attempt failed the last one, but is neither failed nor running. */
export function personaWord(persona: PersonaView, now: number): StatusWord {
  const { status, held } = persona;
  if (kindOf(persona) !== "held" || held === null) return runWord(status);
  return { icon: held.kind === "retry" ? "retries" : "waits", word: heldWord(held, now), tone: "parked" };
}

/** A phase in which all unfinished personas wait is not running either. */
export function phaseWord({ status, personas }: PhaseView, now: number): StatusWord {
  if (status !== "running") return runWord(status);
  const held = personas.filter((persona) => kindOf(persona) === "held");
  const [first] = held;
  const isRunning = personas.some((persona) => kindOf(persona) === "running");
  return first === undefined || isRunning ? runWord("running") : personaWord(first, now);
}

export type PersonaKind = "failed" | "held" | "running" | "stopped" | "pending" | "completed";

export function kindOf({ status, held }: PersonaView): PersonaKind {
  if (status === "failed" || status === "running") return held === null ? status : "held";
  return status === "pending" || status === "stopped" ? status : "completed";
}

/** "2 of 4 done", or the number of personas. */
export function phaseCount({ personas, status }: PhaseView): string {
  if (!["running", "stopped", "failed"].includes(status)) return counted(personas.length, "persona");
  const done = personas.filter((persona) => kindOf(persona) === "completed").length;
  return `${count(done)} of ${count(personas.length)} done`;
}

/** "2 of 4 done, 1 retrying", "1 persona", "waits for openai" */
export function phaseProgress(phase: PhaseView, now: number): string {
  const { personas, status } = phase;
  if (status !== "running") return phaseCount(phase);
  const held = personas.filter((persona) => kindOf(persona) === "held");
  const [only] = held;
  if (personas.length === 1 && only?.held != null) return heldWord(only.held, now).toLowerCase();
  const retrying = held.filter((persona) => persona.held?.kind === "retry").length;
  const waiting = held.length - retrying;
  if (held.length === 0) return phaseCount(phase);
  const how = waiting === 0 ? "retrying" : retrying === 0 ? "waiting" : "held up";
  return `${phaseCount(phase)}, ${count(held.length)} ${how}`;
}

/** The most interesting persona: a running one, otherwise a failed one, otherwise a waiting one. */
export function defaultSelection(
  phases: readonly PhaseView[],
): { readonly phase: string; readonly persona: string } | undefined {
  const wanted: readonly PersonaKind[] = ["running", "failed", "held", "stopped"];
  for (const kind of wanted) {
    for (const { name, personas } of phases) {
      const found = personas.find((persona) => kindOf(persona) === kind);
      if (found !== undefined) return { phase: name, persona: found.name };
    }
  }
  const last = phases.filter(({ status }) => status === "completed").at(-1);
  const persona = last?.personas[0];
  return last === undefined || persona === undefined
    ? undefined
    : { phase: last.name, persona: persona.name };
}

/** The next failed persona after the selected one, wrapping around. */
export function nextFailure(
  phases: readonly PhaseView[],
  selected: { readonly phase: string; readonly persona: string } | undefined,
): { readonly phase: string; readonly persona: string } | undefined {
  const all = phases.flatMap(({ name, personas }) => personas.map((persona) => ({ phase: name, persona })));
  const at = all.findIndex(
    ({ phase, persona }) => phase === selected?.phase && persona.name === selected.persona,
  );
  const turned = [...all.slice(at + 1), ...all.slice(0, at + 1)];
  const found = turned.find(
    ({ persona }) =>
      persona.status === "failed" || persona.attempts.some(({ status }) => status === "failed"),
  );
  return found === undefined ? undefined : { phase: found.phase, persona: found.persona.name };
}

/** The persona in the address, or the most interesting one at the first render. */
export function useSelection(view: SessionView, chosen: Selection | undefined): Selection | undefined {
  const [first] = useState(() => defaultSelection(view.phases));
  return chosen ?? first ?? defaultSelection(view.phases);
}
