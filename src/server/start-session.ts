import type { z } from "@hono/zod-openapi";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import { type FieldProblem, FieldsInvalid } from "./problem.ts";
import { proveModel } from "./prove-model.ts";
import type { startRequest } from "./schemas/actions.ts";
import type { ServerParts } from "./server-parts.ts";
import type { RegisteredTeam } from "./views/teams.ts";

type StartRequest = z.infer<typeof startRequest>;
type StartParts = Pick<ServerParts, "maestro" | "config" | "teams">;
type Started = Awaited<ReturnType<ServerParts["maestro"]["queue"]>>;

/** Rejects a request by field, before a session exists. */
export async function startSession(request: StartRequest, parts: StartParts): Promise<Started> {
  const { maestro, config, teams } = parts;
  const registered = teams.find(({ team }) => team.name === request.team);
  const fields = fieldProblems(request, registered, teams);
  if (registered === undefined || fields.length > 0)
    throw new FieldsInvalid("The session was not started.", fields);
  const { key, model } = request;
  // An existing session keeps its model.
  if (model !== undefined || key === undefined || !(await maestro.isKnownKey(key)))
    await proveModel(registered.team, model ?? config.model, parts);
  return queueWith(maestro, registered, request);
}

function fieldProblems(
  { team: name, brief, pauseAfter = [], only = [], from, until }: StartRequest,
  registered: RegisteredTeam | undefined,
  teams: StartParts["teams"],
): FieldProblem[] {
  const known = registered?.team.definition.phases.map((phase) => phase.name);
  const unknownPhases = (field: string, phases: readonly (string | undefined)[]) =>
    phases.flatMap((phase) =>
      phase === undefined || known === undefined || known.includes(phase)
        ? []
        : [{ field, message: `There is no phase "${phase}".${didYouMean(phase, known)}` }],
    );
  return [
    ...(registered === undefined ? [{ field: "team", message: unknownTeam(name, teams) }] : []),
    ...(brief.trim() === "" ? [{ field: "brief", message: "Say what the team should do." }] : []),
    ...unknownPhases("pauseAfter", pauseAfter),
    ...unknownPhases("only", only),
    ...unknownPhases("from", [from]),
    ...unknownPhases("until", [until]),
  ];
}

async function queueWith(
  maestro: StartParts["maestro"],
  { team, file }: RegisteredTeam,
  { brief, key, model, queue, priority, budget, pauseAfter, only, from, until }: StartRequest,
): Promise<Started> {
  const limit = {
    ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
    ...(budget?.usd !== undefined && { usd: budget.usd }),
  };
  try {
    return await maestro.queue(team, {
      brief,
      ...(key !== undefined && { key }),
      ...(model !== undefined && { model }),
      queue,
      priority,
      ...(file !== undefined && { teamFile: file }),
      ...(pauseAfter !== undefined && { pauseAfter }),
      ...(only !== undefined && { only }),
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
      ...(Object.keys(limit).length > 0 && { budget: limit }),
    });
  } catch (error) {
    const field = fieldOf(error, from);
    if (field === undefined) throw error;
    const known = error as SessionConflict | InputInvalid;
    throw new FieldsInvalid(known.message, [{ field, message: known.message }], known);
  }
}

/** The field of the request that an error is about. */
function fieldOf(error: unknown, from: string | undefined): string | undefined {
  if (SessionConflict.is(error)) {
    const { field = "key" } = error.details as { readonly field?: string };
    return field;
  }
  // The names of phases are checked before: only the first or the last phase can be wrong.
  if (InputInvalid.is(error) && error.details["missing"] !== undefined)
    return from === undefined ? "only" : "from";
  return undefined;
}

function unknownTeam(name: string, teams: StartParts["teams"]): string {
  const known = teams.map(({ team }) => team.name).join(", ");
  return `There is no team "${name}". ${known === "" ? "None is registered: start the server with --team." : `Registered: ${known}.`}`;
}
