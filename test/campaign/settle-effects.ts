import { expect } from "vitest";
import type { EffectView } from "../../src/journal/effect-view.ts";
import type { FaultPoint } from "../../src/testing/index.ts";
import type { Act } from "../crash/support/act.ts";
import { asOnlooker } from "../crash/support/onlooker.ts";
import type { Place } from "../crash/support/place.ts";
import { orElse } from "./campaign.ts";

/** Settles each unknown effect of the session, killed at it sometimes. `resultIn`: by a look at the side file. Returns how many. */
export async function settleAll(
  place: Place,
  key: string,
  random: () => number,
  resultIn: (effect: EffectView, call: unknown) => string | undefined,
): Promise<number> {
  const { waiting, effects, status } = await asOnlooker(place, (maestro) => maestro.show(key));
  const unknown = effects.filter(({ state }) => state === "unknown");
  const listed = waiting.flatMap(({ kind, seq }) => (kind === "effect" ? [seq] : []));
  // A canceled session waits for nothing and keeps its effects.
  if (status !== "canceled") expect(listed).toEqual(unknown.map(({ seq }) => seq));
  orElse("lost", () => expect(unknown.length, "effects to settle").toBeGreaterThan(0));
  for (const effect of unknown) {
    const result = resultIn(effect, waiting.find(({ seq }) => seq === effect.seq)?.call);
    const settlement =
      result === undefined ? ({ happened: false } as const) : { happened: true as const, result };
    const act = { do: "settle", session: key, step: effect.seq, settlement } as const;
    await insist(place, act, random() < 0.2 ? pointOf(random) : undefined, "already known");
  }
  return unknown.length;
}

const pointOf = (random: () => number): FaultPoint =>
  random() < 0.5 ? "signal.sent:before-commit" : "signal.received:before-commit";

/** Acts, killed at this point first. The killed process may have done it: `already` is the answer then. */
export async function insist(
  place: Place,
  act: Act,
  point: FaultPoint | undefined,
  already: string,
): Promise<number> {
  let kills = 0;
  if (point !== undefined) {
    const { signal } = await place.act(act, { point, hit: 1, act: "kill" }).ended;
    if (signal === "SIGKILL") kills += 1;
  }
  const { code, stderr } = await place.act(act).ended;
  if (code !== 0) expect(stderr).toContain(already);
  return kills;
}

export function expectNoRepeat({ marks }: Pick<Place, "marks">): void {
  orElse("repeated", () => {
    expect(marks.filter((mark, index) => marks.indexOf(mark) !== index)).toEqual([]);
  });
}

export const pick = <T>(random: () => number, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;
