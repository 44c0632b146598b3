import type { Maestro } from "../../api/open.ts";
import type { SessionFeed } from "../feed/session-feed.ts";
import type { PersonaDetail } from "../schemas/inside.ts";
import type { SessionPageView } from "../schemas/session.ts";
import { changedFiles } from "./changed-files.ts";
import { checkView } from "./check.ts";
import { definitionOf, findPersona } from "./definition.ts";

/** One persona in one phase; undefined if there is no such persona. */
export async function personaDetail(
  maestro: Maestro,
  feed: SessionFeed,
  page: SessionPageView,
  place: { readonly phase: string; readonly persona: string },
): Promise<PersonaDetail | undefined> {
  const { state } = feed;
  const definition = definitionOf(state);
  const defined = findPersona(definition, place.phase, place.persona);
  const persona = page.phases
    .find(({ name }) => name === place.phase)
    ?.personas.find(({ name }) => name === place.persona);
  if (defined === undefined || persona === undefined) return undefined;
  const { work, contract, consumes } = defined;
  const attempt = state.phases.get(place.phase)?.personas.get(place.persona)?.attempts.at(-1);
  const result = state.phases.get(place.phase)?.personas.get(place.persona)?.result;
  const budget = page.budgets.find(({ level, persona }) => level === "persona" && persona === defined.name);
  const files = await changedFiles(maestro, feed.id, { before: attempt?.base, after: attempt?.tree });
  return {
    phase: place.phase,
    persona,
    model: work.kind === "model" ? (work.model ?? page.model) : null,
    limitUsd: budget?.limitUsd ?? null,
    limitTokens: budget?.limitTokens ?? null,
    reservedUsd: budget === undefined ? 0 : budget.reservedUsd,
    instructions: work.kind === "function" ? "" : (work.instructions ?? ""),
    contract: {
      deliverables: contract.deliverables.map(({ name, files }) => ({ name, files })),
      checks: contract.checks.map(({ name, run, must, weight }) => ({ name, run, must, weight })),
      outputs: contract.outputs ?? null,
      consumes,
    },
    checks: (attempt?.checks ?? []).map(checkView),
    files,
    result: result === undefined ? null : { summary: result.summary, outputs: result.outputs },
  };
}
