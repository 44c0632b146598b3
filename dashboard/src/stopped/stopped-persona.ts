import type { PersonaView, SessionView, StoppedPersona } from "../api/types.ts";

type Stopped = Pick<SessionView, "situation" | "phases">;
type Place = Pick<StoppedPersona, "phase" | "persona">;

/** The persona at `place`, otherwise the one that the situation names, otherwise the one that was running. */
export function stoppedPersona(
  view: Stopped,
  place: Place | undefined,
): { readonly phase: string; readonly persona: PersonaView } | undefined {
  const { situation } = view;
  const phaseName = place?.phase ?? ("phase" in situation ? situation.phase : null);
  const personaName = place?.persona ?? ("persona" in situation ? situation.persona : null);
  const phase = view.phases.find(({ name }) => name === phaseName);
  const persona =
    phase?.personas.find(({ name }) => name === personaName) ??
    phase?.personas.find(({ status }) => status === "failed");
  if (phase !== undefined && persona !== undefined) return { phase: phase.name, persona };
  return view.phases
    .flatMap(({ name, personas }) => personas.map((each) => ({ phase: name, persona: each })))
    .find((each) => each.persona.status === "stopped");
}

interface StopLane {
  readonly name: string;
  readonly status: "completed" | "failed" | "paused";
  readonly personas: readonly PersonaView[];
}

/** Three lanes: the completed phases, the persona that stopped, and the other personas of its phase. */
export function stopLanes(view: Stopped, place: Place | undefined): readonly StopLane[] {
  const found = stoppedPersona(view, place);
  const done = view.phases.filter(({ status }) => status === "completed" || status === "reused");
  const lanes: StopLane[] = [];
  if (done.length > 0)
    lanes.push({
      name: done.map(({ name }) => name).join(", "),
      status: "completed",
      personas: done.flatMap(({ personas }) => personas),
    });
  if (found === undefined) return lanes;
  lanes.push({
    name: found.persona.name,
    status: found.persona.status === "failed" ? "failed" : "paused",
    personas: [found.persona],
  });
  const others = view.phases
    .find(({ name }) => name === found.phase)
    ?.personas.filter(({ name, attempts }) => name !== found.persona.name && attempts.length > 0);
  if (others !== undefined && others.length > 0)
    lanes.push({
      name: others.length === 1 ? (others[0]?.name ?? "") : `${others.length} other personas`,
      status: others.every(({ status }) => status === "completed" || status === "reused")
        ? "completed"
        : "paused",
      personas: others,
    });
  return lanes;
}
