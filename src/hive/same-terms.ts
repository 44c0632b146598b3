import { canonicalJson } from "../domain/canonical.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import { toBudget } from "../team/spending.ts";
import type { StartOptions } from "./options.ts";

/** Who names another model or limit under a key that is taken would find it ignored. What was raised since is no matter. */
export async function refuseOtherTerms(
  { id, key }: SessionRecord,
  { model, budget }: Pick<StartOptions, "model" | "budget">,
  store: Store,
): Promise<void> {
  if (model === undefined && budget === undefined) return;
  const { begun } = await readState(store, id);
  const conflict = (field: "model" | "budget", what: string, advice: string) =>
    new SessionConflict(`The key "${key}" belongs to session ${id}, which was started with ${what}.`, {
      details: { key, session: id, field },
      advice,
    });
  if (model !== undefined && model !== begun.model)
    throw conflict(
      "model",
      begun.model === undefined ? "no model of its own" : `the model ${begun.model}`,
      "Use another key, or fork that session with the other model.",
    );
  if (budget !== undefined && sayingOf(toBudget(budget)) !== sayingOf(begun.budget ?? {}))
    throw conflict("budget", "another budget", "Use another key, or raise the budget of that session.");
}

const sayingOf = (budget: object): string => canonicalJson(budget as unknown as Json);
