import { expect } from "vitest";
import type { Maestro, SessionEvent, SessionView } from "../../../../src/index.ts";

export const titles = ["Classification", "Blueprint", "Personas", "Contracts"];
export const brief = "Fix the API of the import job.";

export const workersOf = ({ phases }: SessionView) =>
  Object.fromEntries(phases.map(({ name, personas }) => [name, personas.map((persona) => persona.name)]));

/** For that brief: no database, no frontend, and whom the rules do not know. */
export const chosen = { design: ["solution_architect"], implementation: ["backend_developer", "poet"] };

async function eventsOf(maestro: Maestro, id: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of maestro.events(id, { follow: false })) events.push(event);
  return events;
}

/** The planning decisions stand there once, in order, before the first phase. */
export async function expectPlannedOnce(maestro: Maestro, id: string): Promise<void> {
  const kinds = (await eventsOf(maestro, id)).map((event) => event.kind);
  const rows = kinds.filter((kind) => kind === "decision.recorded");
  expect(rows).toHaveLength(titles.length);
  expect(kinds.indexOf("phase.started")).toBeGreaterThan(kinds.lastIndexOf("decision.recorded"));
  const { decisions } = await maestro.show(id);
  expect(decisions.map(({ title }) => title)).toEqual(titles);
  expect(decisions.every(({ phase, persona }) => phase === undefined && persona === undefined)).toBe(true);
}
