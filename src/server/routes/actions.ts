import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import type { JsonObject } from "../../domain/json.ts";
import type { Json, PhaseEdit } from "../../index.ts";
import type { PhaseState } from "../../journal/session-state.ts";
import { finalStatuses } from "../../journal/standing.ts";
import { proveModel } from "../prove-model.ts";
import {
  answerRequest,
  approveCallRequest,
  budgetRequest,
  type edits,
  emptyRequest,
  forkRequest,
  plan,
  rejectCallRequest,
  rejectRequest,
  resumeRequest,
  reviewRequest,
  settleRequest,
} from "../schemas/actions.ts";
import { sessionView } from "../schemas/session.ts";
import type { ServerParts } from "../server-parts.ts";
import { planView } from "../views/plan.ts";
import { type App, addRoute, body, json, problems } from "./route.ts";
import { idParam } from "./session.ts";

const accepted = { 202: json("Recorded. The session as it is now.", sessionView), ...problems };
const planned = { 200: json("With `dryRun`: what would happen.", plan) };

const action = <Schema extends z.ZodType>(name: string, summary: string, schema: Schema, required = false) =>
  ({
    method: "post",
    path: `/v1/sessions/{id}/${name}`,
    operationId: `${name}Session`,
    summary,
    request: { params: idParam, body: body(schema, { required }) },
    responses: accepted,
  }) as const satisfies RouteConfig;

const pauseRoute = createRoute(action("pause", "Stop at the next step", emptyRequest));
const cancelRoute = createRoute(action("cancel", "Stop for good", emptyRequest));
const approveRoute = createRoute(action("approve", "Let what was reviewed count", reviewRequest));
const rejectRoute = createRoute(action("reject", "Let it be done again, with a note", rejectRequest, true));
const resumeRoute = createRoute({
  ...action("resume", "Resume to the end", resumeRequest),
  responses: { ...accepted, ...planned },
});
const forkRoute = createRoute({
  ...action("fork", "A new session that goes another way from a phase on", forkRequest, true),
  responses: { 201: json("The new session; it waits for its turn.", sessionView), ...planned, ...problems },
});

const phaseRoute = createRoute({
  method: "post",
  path: "/v1/sessions/{id}/phases/{phase}",
  operationId: "runPhase",
  summary: "Run one phase; a completed phase does not run again",
  request: {
    params: idParam.extend({ phase: z.string().min(1).max(300) }),
    body: body(emptyRequest, { required: false }),
  },
  responses: accepted,
});

const seqParam = idParam.extend({ seq: z.string().regex(/^[1-9]\d{0,9}$/) });

const settleRoute = createRoute({
  method: "post",
  path: "/v1/sessions/{id}/steps/{seq}/settle",
  operationId: "settleStep",
  summary: "Say whether an effect of unknown outcome happened",
  request: { params: seqParam, body: body(settleRequest) },
  responses: accepted,
});

const onCall = <Schema extends z.ZodType>(name: string, summary: string, schema: Schema, required = true) =>
  ({
    method: "post",
    path: `/v1/sessions/{id}/calls/{seq}/${name}`,
    operationId: `${name}Call`,
    summary,
    request: { params: seqParam, body: body(schema, { required }) },
    responses: accepted,
  }) as const satisfies RouteConfig;

const approveCallRoute = createRoute(
  onCall("approve", "Let a call begin, perhaps with other arguments", approveCallRequest, false),
);
const rejectCallRoute = createRoute(
  onCall("reject", "Refuse a call; the note is its result", rejectCallRequest),
);
const answerCallRoute = createRoute(onCall("answer", "Answer a question of a persona", answerRequest));

const budgetRoute = createRoute({
  method: "patch",
  path: "/v1/sessions/{id}/budgets",
  operationId: "setBudget",
  summary: "Set the limit of the session, a phase or a persona",
  request: { params: idParam, body: body(budgetRequest) },
  responses: accepted,
});

type MayRun = (phase: PhaseState | undefined, name: string) => boolean;
const isOpen = (phase: PhaseState | undefined): boolean => phase?.status !== "completed";

/** Actions on a session. Long actions are recorded and answered immediately. */
export function addActionRoutes(app: App, parts: ServerParts): void {
  const { maestro, book, pages, actions } = parts;
  const viewOf = async (idOrKey: string) => pages.view(await book.open(idOrKey));
  const prove = async (idOrKey: string, model?: string) => {
    const { created } = (await book.open(idOrKey)).state;
    await proveModel(await maestro.team(idOrKey), model ?? created.model, parts);
  };
  /** Runs before anything is recorded. A completed session does not call a model again. */
  const proveGoingOn = async (idOrKey: string, mayRun: MayRun = isOpen) => {
    const {
      created,
      standing: { status },
      phases,
    } = (await book.open(idOrKey)).state;
    if (finalStatuses.includes(status)) return;
    const team = await maestro.team(idOrKey);
    const { definition } = team;
    const left = definition.phases.filter(({ name }) => mayRun(phases.get(name), name));
    const otherwise = "fork the session with another model";
    await proveModel(
      { ...team, definition: { ...definition, phases: left } },
      created.model,
      parts,
      otherwise,
    );
  };

  addRoute(app, "operator", pauseRoute, async (c) => {
    const { id } = c.req.valid("param");
    await maestro.pause(id);
    return c.json(await viewOf(id), 202);
  });

  addRoute(app, "operator", cancelRoute, async (c) => {
    const { id } = c.req.valid("param");
    await maestro.cancel(id);
    return c.json(await viewOf(id), 202);
  });

  addRoute(app, "operator", approveRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { phase, note, resume } = c.req.valid("json");
    if (resume === true) await proveGoingOn(id);
    await maestro.approve(id, { ...(phase !== undefined && { phase }), ...(note !== undefined && { note }) });
    if (resume === true) await actions.resume(id);
    return c.json(await viewOf(id), 202);
  });

  addRoute(app, "operator", rejectRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { phase, note = "", resume, repeatEffects } = c.req.valid("json");
    if (resume === true) await proveGoingOn(id, (phase) => isOpen(phase) || phase?.review === "awaiting");
    await maestro.reject(id, {
      ...(phase !== undefined && { phase }),
      note,
      ...(repeatEffects === true && { repeatEffects }),
    });
    if (resume === true) await actions.resume(id);
    return c.json(await viewOf(id), 202);
  });

  addRoute(app, "operator", resumeRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { edits, acceptChanges, note, dryRun } = c.req.valid("json");
    const options = {
      ...(edits !== undefined && { edits: editsOf(edits) }),
      ...(acceptChanges !== undefined && { acceptChanges }),
      ...(note !== undefined && { note }),
    };
    await proveGoingOn(id, edits === undefined && acceptChanges === undefined ? isOpen : () => true);
    if (dryRun === true) return c.json(planView(await maestro.plan(id, options), await viewOf(id)), 200);
    await actions.resume(id, options);
    return c.json(await viewOf(id), 202);
  });

  addRoute(app, "operator", forkRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { at, edits, fresh, repeatEffects, model, key, dryRun } = c.req.valid("json");
    const options = {
      at,
      ...(edits !== undefined && { edits: editsOf(edits) }),
      ...(fresh !== undefined && { fresh }),
      ...(repeatEffects === true && { repeatEffects }),
      ...(model !== undefined && { model }),
      ...(key !== undefined && { key }),
    };
    await prove(id, model);
    if (dryRun === true) return c.json(planView(await maestro.planFork(id, options), await viewOf(id)), 200);
    const fork = await maestro.fork(id, options);
    await actions.resume(fork.id);
    c.header("location", `/v1/sessions/${fork.id}`);
    return c.json(await viewOf(fork.id), 201);
  });

  addRoute(app, "operator", phaseRoute, async (c) => {
    const { id, phase } = c.req.valid("param");
    await proveGoingOn(id, (state, name) => name === phase && isOpen(state));
    await actions.runPhase(id, phase);
    return c.json(await viewOf(id), 202);
  });

  addRoute(app, "operator", settleRoute, async (c) => {
    const { id, seq } = c.req.valid("param");
    const { happened, result, resume } = c.req.valid("json");
    if (resume === true) await proveGoingOn(id);
    const settlement = happened
      ? ({ happened, ...(result !== undefined && { result: result as Json }) } as const)
      : ({ happened } as const);
    await maestro.settle(id, Number(seq), settlement);
    if (resume === true) await actions.resume(id);
    return c.json(await viewOf(id), 202);
  });

  /** A running session continues by itself. */
  const continues = async (id: string, resume: boolean | undefined) =>
    resume === true && (await book.open(id)).state.standing.status !== "running";

  /** Sends a decision about a call, and resumes the session if requested and if it has stopped. */
  const decide = async (id: string, resume: boolean | undefined, say: () => Promise<void>) => {
    if (await continues(id, resume)) await proveGoingOn(id);
    await say();
    if (await continues(id, resume)) await actions.resume(id);
    return viewOf(id);
  };

  addRoute(app, "operator", approveCallRoute, async (c) => {
    const { id, seq } = c.req.valid("param");
    const { arguments: args, note, resume } = c.req.valid("json");
    const approval = {
      call: Number(seq),
      ...(args !== undefined && { arguments: args as JsonObject }),
      ...(note !== undefined && { note }),
    };
    return c.json(await decide(id, resume, () => maestro.approve(id, approval)), 202);
  });

  addRoute(app, "operator", rejectCallRoute, async (c) => {
    const { id, seq } = c.req.valid("param");
    const { note, resume } = c.req.valid("json");
    const rejection = { call: Number(seq), note };
    return c.json(await decide(id, resume, () => maestro.reject(id, rejection)), 202);
  });

  addRoute(app, "operator", answerCallRoute, async (c) => {
    const { id, seq } = c.req.valid("param");
    const { text, resume } = c.req.valid("json");
    return c.json(await decide(id, resume, () => maestro.answer(id, Number(seq), text)), 202);
  });

  addRoute(app, "operator", budgetRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { resume, persona, phase, usd, tokens } = c.req.valid("json");
    if (resume === true) await proveGoingOn(id);
    await maestro.setBudget(id, {
      ...(persona !== undefined && { persona }),
      ...(phase !== undefined && { phase }),
      ...(usd !== undefined && { usd }),
      ...(tokens !== undefined && { tokens }),
    });
    if (resume === true) await actions.resume(id);
    return c.json(await viewOf(id), 202);
  });
}

/** The depth was checked when the body was read, so its outputs are JSON of bounded depth. */
const editsOf = (given: z.infer<typeof edits>): Readonly<Record<string, PhaseEdit>> =>
  given as Readonly<Record<string, PhaseEdit>>;
