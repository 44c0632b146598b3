import { type PersonaContext, persona } from "../../../src/index.ts";
import type { TeamPlace } from "./place.ts";

export type Act = (context: PersonaContext, times: number) => unknown;

/** A contract of one check. */
export const sh = (name: string, script: string) => ({ checks: [{ name, run: ["sh", "-c", script] }] });

/** A persona that knows how often it was asked. */
export function counted(place: TeamPlace, name: string, act: Act, more: Record<string, unknown> = {}) {
  let times = 0;
  const work = place.work(name, (context) => {
    times += 1;
    return act(context, times);
  });
  return persona(name, { ...more, run: work });
}

export const write =
  (files: Record<string, string>): Act =>
  async ({ workspace }) => {
    for (const [path, content] of Object.entries(files)) await workspace.write(path, content);
  };
