import { advise, nameOf } from "../domain/advice.ts";
import { canonicalJson } from "../domain/canonical.ts";
import { type MaestroErrorOptions, SessionConflict } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Direction } from "../journal/journal.ts";
import { finalStatuses } from "../journal/standing.ts";
import { isSameDirection, nextDirection } from "../run/direction.ts";
import { toBudget } from "../run/spending.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { StartOptions } from "./options.ts";

/** Another model or budget for an existing key would be ignored, so it is refused. Later budget changes do not count. */
export async function refuseOtherTerms(
  session: SessionRecord,
  { model, budget }: Pick<StartOptions, "model" | "budget">,
  store: Store,
  otherModel: MaestroErrorOptions["advice"] = "Use another key, or fork that session with the other model.",
): Promise<void> {
  if (model === undefined && budget === undefined) return;
  const { begun } = await readState(store, session.id);
  const own = begun.model ?? recordedDefinition(begun.definition).model ?? undefined;
  if (model !== undefined && model !== own)
    throw conflict(session, "model", {
      what: `was started with ${own === undefined ? "the default model" : `the model ${own}`}`,
      advice: otherModel,
    });
  if (budget !== undefined && textOf(toBudget(budget)) !== textOf(begun.budget ?? {}))
    throw conflict(session, "budget", {
      what: "was started with another budget",
      advice: "Use another key, or raise the budget of that session.",
    });
}

/** Like `refuseOtherTerms`, for a caller that can resume the session with the other model. */
export async function refuseOtherModel(
  session: SessionRecord,
  model: string | undefined,
  store: Store,
): Promise<void> {
  if (model === undefined) return;
  const otherModel = [
    advise("Use another key."),
    advise("Or resume it with that model", "resume", nameOf(session), "--model", model),
  ];
  const isOver = finalStatuses.includes(session.status);
  await refuseOtherTerms(session, { model }, store, isOver ? undefined : otherModel);
}

/** A running session keeps its direction until it stops. A request without phases does not change it. */
export async function refuseOtherDirection(
  session: SessionRecord,
  wanted: Direction,
  store: Store,
): Promise<void> {
  if (Object.keys(wanted).length === 0) return;
  const { direction } = await readState(store, session.id);
  const next = nextDirection(direction, wanted);
  if (isSameDirection(next, direction)) return;
  const fields = ["only", "from", "until", "pauseAfter"] as const;
  const field = fields.find((each) => textOf(next[each] ?? []) !== textOf(direction[each] ?? []));
  throw conflict(session, field ?? "key", {
    what: "was requested with other phases and has not stopped yet",
    advice: "Use another key, or repeat the request when that session has stopped.",
  });
}

function conflict(
  { id, key }: SessionRecord,
  field: "key" | "model" | "budget" | keyof Direction,
  { what, advice }: { readonly what: string; readonly advice: MaestroErrorOptions["advice"] },
): SessionConflict {
  return new SessionConflict(`The key "${key}" belongs to session ${id}, which ${what}.`, {
    details: { key, session: id, field },
    advice,
  });
}

const textOf = (value: object | string): string => canonicalJson(value as unknown as Json);
