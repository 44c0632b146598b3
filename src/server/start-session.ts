import type { z } from "@hono/zod-openapi";
import { didYouMean } from "../domain/closest.ts";
import { ConfigInvalid, InputInvalid, SessionConflict } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { GivenOptions, SourceOptions } from "../index.ts";
import { type FieldProblem, FieldsInvalid } from "./problem.ts";
import { proveModel } from "./prove-model.ts";
import { allowedSource } from "./repo-roots.ts";
import type { startRequest } from "./schemas/actions.ts";
import type { ServerParts } from "./server-parts.ts";
import type { RegisteredTeam } from "./views/teams.ts";

type StartRequest = z.infer<typeof startRequest>;
type StartParts = Pick<ServerParts, "maestro" | "config" | "teams" | "identity">;
type Started = Awaited<ReturnType<ServerParts["maestro"]["queue"]>>;

/** Rejects a request by field before a session exists. */
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
  const source = request.source && (await allowedSource(request.source, parts.identity.repoRoots));
  return queueWith(maestro, registered, { ...request, source });
}

function fieldProblems(
  { team: name, brief, pauseAfter = [], only = [], from, until, given = {} }: StartRequest,
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
    ...unknownPhases("given", Object.keys(given)),
  ];
}

async function queueWith(
  maestro: StartParts["maestro"],
  { team, file }: RegisteredTeam,
  request: Omit<StartRequest, "source"> & { readonly source: SourceOptions | undefined },
): Promise<Started> {
  const {
    brief,
    key,
    model,
    queue,
    priority,
    budget,
    pauseAfter,
    only,
    from,
    until,
    source,
    upload,
    attachments,
    given,
  } = request;
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
      ...(source !== undefined && { source }),
      ...(upload !== undefined && { upload }),
      ...(attachments !== undefined && { attachments: attachments.map((id) => ({ upload: id })) }),
      ...(given !== undefined && { given: givenPhases(given) }),
    });
  } catch (error) {
    const field = fieldOf(error, from);
    if (field === undefined) throw error;
    const known = ConfigInvalid.is(error) ? asInput(error) : (error as SessionConflict | InputInvalid);
    throw new FieldsInvalid(known.message, [{ field, message: known.message }], known);
  }
}

/** The request chose the model, so the server's configuration is not at fault. */
const asInput = ({ message, details, advice }: ConfigInvalid): InputInvalid =>
  new InputInvalid(message, { details, advice });

type Given = NonNullable<StartRequest["given"]>;

/** The bytes of each file, in either form of the request. */
function givenPhases(given: Given): Readonly<Record<string, GivenOptions>> {
  return Object.fromEntries(
    Object.entries(given).map(([phase, { outputs, files, summary }]) => [
      phase,
      {
        ...(outputs !== undefined && { outputs: outputs as JsonObject }),
        ...(files !== undefined && {
          files: Object.fromEntries(
            Object.entries(files).map(([path, content]) => [
              path,
              typeof content === "object" && content !== null
                ? Buffer.from(content.base64, "base64")
                : content,
            ]),
          ),
        }),
        ...(summary !== undefined && { summary }),
        origin: "a request",
      },
    ]),
  );
}

/** The field of the request that an error is about. */
function fieldOf(error: unknown, from: string | undefined): string | undefined {
  if (SessionConflict.is(error)) {
    const { field = "key" } = error.details as { readonly field?: string };
    return field;
  }
  if (InputInvalid.is(error) && error.details["upload"] !== undefined) return "upload";
  const isAttachment = InputInvalid.is(error) || ConfigInvalid.is(error);
  if (isAttachment && ["attachment", "attachments"].some((key) => error.details[key] !== undefined))
    return "attachments";
  // Phase names were checked before, so only the first or the last phase can be wrong.
  if (InputInvalid.is(error) && error.details["missing"] !== undefined)
    return from === undefined ? "only" : "from";
  return undefined;
}

function unknownTeam(name: string, teams: StartParts["teams"]): string {
  const known = teams.map(({ team }) => team.name).join(", ");
  return `There is no team "${name}". ${known === "" ? "None is registered: start the server with --team." : `Registered: ${known}.`}`;
}
