import { SessionConflict } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type EffectState, happenedIn, unsettledIn } from "../../journal/effect.ts";
import type { SessionState } from "../../journal/session-state.ts";
import { settleAdvice } from "../../journal/settle-advice.ts";

const mostNamed = 20;

/** Effects that happened in the work of personas which run again. */
export function effectsOfPlan(
  { effects }: SessionState,
  personas: readonly { readonly phase: string; readonly persona: string; readonly action: string }[],
): readonly EffectState[] {
  const again = new Set(
    personas.flatMap(({ phase, persona, action }) =>
      action === "runs" || action === "may-run" ? [`${phase} ${persona}`] : [],
    ),
  );
  const phases = personas.map(({ phase }) => phase);
  return happenedIn(effects, phases).filter(({ phase, persona }) => again.has(`${phase} ${persona}`));
}

/** Effects that happened are repeated only when a person says so. */
export function refuseToRepeat(
  id: SessionId,
  effects: readonly Pick<EffectState, "seq" | "name" | "phase">[],
): void {
  if (effects.length === 0) return;
  const named = effects.slice(0, mostNamed).map(({ seq, name, phase }) => `${name} (step ${seq}, ${phase})`);
  const more = effects.length > mostNamed ? ` and ${effects.length - mostNamed} more` : "";
  throw new SessionConflict(`This would repeat effects that happened: ${named.join(", ")}${more}.`, {
    details: { session: id, effects: effects.map(({ seq, name }) => ({ seq, name })) },
    advice: "To let them happen again, add --repeat-effects (repeatEffects: true over HTTP and in code).",
  });
}

/** A fork would not know whether to repeat them. */
export function refuseUnsettled({ id, effects }: SessionState): void {
  const [first] = unsettledIn(effects);
  if (first === undefined) return;
  const { name, seq } = first;
  throw new SessionConflict(`The outcome of the effect "${name}" of session ${id} is unknown.`, {
    details: { session: id, effect: name, step: seq },
    advice: settleAdvice(id, seq),
  });
}
