import { createRoute, z } from "@hono/zod-openapi";
import { InputInvalid } from "../../domain/errors.ts";
import { downloadHeaders } from "../access/security-headers.ts";
import { HttpProblem } from "../problem.ts";
import { artifactTree, checkpointInfo, personaDetail, stepsPage, teamDefinition } from "../schemas/inside.ts";
import { sessionView } from "../schemas/session.ts";
import { transcriptPage } from "../schemas/transcript.ts";
import { list } from "../schemas/values.ts";
import type { ServerParts } from "../server-parts.ts";
import { personaDetail as readPersona } from "../views/persona-detail.ts";
import { stepsPage as readSteps } from "../views/steps-page.ts";
import { teamView } from "../views/team.ts";
import { transcriptPage as readTranscript } from "../views/transcript-page.ts";
import { treeView } from "../views/tree-view.ts";
import { type App, addRoute, json, problems } from "./route.ts";

const name = z.string().min(1).max(300);
export const idParam = z.object({ id: name.openapi({ description: "The session's id or key." }) });
const personaParams = idParam.extend({ phase: name, persona: name });
const count = z.coerce.number().int().min(0);

const showRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}",
  operationId: "showSession",
  summary: "One session in full",
  request: { params: idParam },
  responses: { 200: json("The session.", sessionView), ...problems },
});

const checkpointsRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/checkpoints",
  operationId: "listCheckpoints",
  summary: "The sealed checkpoints, each verified as it is read",
  request: { params: idParam },
  responses: { 200: json("The checkpoints.", list(checkpointInfo)), ...problems },
});

const teamRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/team",
  operationId: "showTeam",
  summary: "The recorded team of the session",
  request: { params: idParam },
  responses: { 200: json("The team.", teamDefinition), ...problems },
});

const treeRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/artifacts",
  operationId: "listArtifacts",
  summary: "The files of one of the session's trees",
  request: {
    params: idParam,
    query: z.object({
      at: z
        .string()
        .max(1_000)
        .default("head")
        .openapi({ description: "head, phase:<name>, phase:<name>@<revision>, attempt:..., parent" }),
    }),
  },
  responses: { 200: json("The files.", artifactTree), ...problems },
});

const blobRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/artifacts/{sha256}",
  operationId: "downloadArtifact",
  summary: "The bytes of a file, always as a download",
  request: { params: idParam.extend({ sha256: z.string().max(100) }) },
  responses: {
    200: {
      description: "The bytes.",
      content: { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } },
    },
    ...problems,
  },
});

const personaRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/phases/{phase}/personas/{persona}",
  operationId: "showPersona",
  summary: "One persona in one phase",
  request: { params: personaParams },
  responses: { 200: json("The persona.", personaDetail), ...problems },
});

const stepsRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/phases/{phase}/personas/{persona}/steps",
  operationId: "listSteps",
  summary: "The recorded steps of an attempt, oldest first",
  request: {
    params: personaParams,
    query: z.object({
      round: count.optional(),
      attempt: count.optional(),
      before: count.optional().openapi({ description: "Steps before this seq; the newest without it." }),
      limit: z.coerce.number().int().min(1).max(500).default(60),
    }),
  },
  responses: { 200: json("The steps.", stepsPage), ...problems },
});

const transcriptRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/transcript",
  operationId: "showTranscript",
  summary: "Every prompt, reasoning, answer, tool call, check, healing and word of a person, in order",
  request: {
    params: idParam,
    query: z.object({
      phase: name.optional(),
      persona: name.optional(),
      attempt: z.coerce.number().int().min(1).optional().openapi({
        description: "With `persona`: only this attempt, counted over all rounds.",
      }),
      after: count.default(0).openapi({ description: "Only items of rows after this seq." }),
      limit: z.coerce.number().int().min(1).max(1_000).default(200),
      messages: z.enum(["all", "new"]).default("all").openapi({
        description: "`new`: prompts without the messages that the call before sent as well.",
      }),
    }),
  },
  responses: { 200: json("A page of the transcript.", transcriptPage), ...problems },
});

/** Reads of one session. */
export function addSessionReadingRoutes(app: App, parts: ServerParts): void {
  const { maestro, book, pages, config } = parts;

  addRoute(app, "viewer", showRoute, async (c) =>
    c.json(await pages.view(await book.open(c.req.valid("param").id)), 200),
  );

  addRoute(app, "viewer", checkpointsRoute, async (c) => {
    const { id } = await book.open(c.req.valid("param").id);
    return c.json([...(await maestro.checkpoints(id))], 200);
  });

  addRoute(app, "viewer", teamRoute, async (c) => {
    const { state } = await book.open(c.req.valid("param").id);
    return c.json(teamView(state, config.attempts.max), 200);
  });

  addRoute(app, "viewer", treeRoute, async (c) => {
    const feed = await book.open(c.req.valid("param").id);
    return c.json(await treeView(maestro, feed, await pages.view(feed), c.req.valid("query").at), 200);
  });

  addRoute(app, "viewer", blobRoute, async (c) => {
    const { id, sha256 } = c.req.valid("param");
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw noArtifact(id, sha256);
    const content = await maestro.artifact(id, sha256).catch((error: unknown) => {
      throw InputInvalid.is(error) ? noArtifact(id, sha256) : error;
    });
    const headers = downloadHeaders("application/octet-stream", sha256);
    return new Response(new Uint8Array(content), { headers });
  });

  addRoute(app, "viewer", personaRoute, async (c) => {
    const { id, phase, persona } = c.req.valid("param");
    const feed = await book.open(id);
    const detail = await readPersona(maestro, feed, await pages.view(feed, { withFiles: false }), {
      phase,
      persona,
    });
    if (detail === undefined) throw new HttpProblem("NOT_FOUND", `Phase ${phase} has no persona ${persona}.`);
    return c.json(detail, 200);
  });

  addRoute(app, "viewer", transcriptRoute, async (c) =>
    c.json(await readTranscript(maestro, c.req.valid("param").id, c.req.valid("query")), 200),
  );

  addRoute(app, "viewer", stepsRoute, async (c) => {
    const { id, phase, persona } = c.req.valid("param");
    return c.json(await readSteps(await book.open(id), { phase, persona, ...c.req.valid("query") }), 200);
  });
}

const noArtifact = (id: string, sha256: string): HttpProblem =>
  new HttpProblem("NOT_FOUND", `Session ${id} has no artifact ${sha256.slice(0, 64)}.`);
