import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Position, readPosition } from "../../domain/cursor.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { journalFilter, journalPage } from "../schemas/events.ts";
import type { ServerParts } from "../server-parts.ts";
import { journalPage as readJournal } from "../views/journal-page.ts";
import { type App, type AppEnv, addRoute, json, problems } from "./route.ts";
import { idParam } from "./session.ts";

const position = z.string().max(20).optional();
const eventStream = {
  "text/event-stream": {
    schema: z.string().openapi({
      description:
        "Server-sent events: hello first; entry (its id is the seq) and session (its id is the position) are replayed after Last-Event-ID or ?after=; change, breaker, status, text and step have no id and are not.",
    }),
  },
};

const sessionRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/events",
  operationId: "watchSession",
  summary: "Past and new journal rows as server-sent events; as JSON, a page of the journal",
  request: {
    params: idParam,
    headers: z.object({ "last-event-id": position }),
    query: z.object({
      after: position.openapi({ description: "Only rows after this seq; all rows without it." }),
      text: z.string().max(500).optional().openapi({
        description:
          "Also stream the live text of this persona, as events without ids: `persona` or `phase/persona`.",
      }),
      before: z.coerce.number().int().min(1).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(200),
      show: journalFilter.default("all"),
    }),
  },
  responses: {
    200: {
      description: "Events, or with `Accept: application/json` a page of the journal.",
      content: { ...eventStream, ...json("", journalPage).content },
    },
    ...problems,
  },
});

const allRoute = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "watchAll",
  summary: "All sessions: the row of each that changed, as server-sent events",
  request: {
    headers: z.object({ "last-event-id": position }),
    query: z.object({
      after: position.openapi({
        description: "Only events after this position; only new ones without it.",
      }),
      journal: z.enum(["true", "false"]).default("false").openapi({
        description: "The journal rows of all sessions instead of session rows.",
      }),
    }),
  },
  responses: { 200: { description: "Events.", content: eventStream }, ...problems },
});

export function addEventRoutes(app: App, { maestro, book, hub, people }: ServerParts): void {
  const endWithPerson = (c: Pick<Context<AppEnv>, "get" | "env">) => {
    const outgoing = c.env?.outgoing;
    if (outgoing === undefined) return;
    outgoing.once(
      "close",
      people.streams.whileIn(c.get("person"), () => outgoing.destroy()),
    );
  };

  addRoute(app, "viewer", sessionRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { after, text, before, limit, show } = c.req.valid("query");
    const accept = c.req.header("accept") ?? "";
    if (accept.includes("application/json") && !accept.includes("text/event-stream"))
      return c.json(await readJournal(maestro, await book.open(id), { before, limit, show }), 200);
    const from = readSeq(c.req.valid("header")["last-event-id"] ?? after);
    // A HEAD request would never read the stream.
    if (c.req.raw.method === "HEAD") {
      await maestro.find(id);
      return streamOf(null);
    }
    const stream = await hub.watchSession(id, { after: from, text }, dropOf(c.env));
    endWithPerson(c);
    return streamOf(stream);
  });

  addRoute(app, "viewer", allRoute, async (c) => {
    const { after, journal } = c.req.valid("query");
    const from = positionIn(c.req.valid("header")["last-event-id"] ?? after);
    if (c.req.raw.method === "HEAD") return streamOf(null);
    const stream = await hub.watchAll({ after: from, journal: journal === "true" }, dropOf(c.env));
    endWithPerson(c);
    return streamOf(stream);
  });
}

/** Rejects anything but a number, because an unknown id would replay too much or too little. */
function readSeq(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const number = Number(text);
  if (/^\d{1,15}$/.test(text) && Number.isSafeInteger(number)) return number;
  throw notAnId(text);
}

function positionIn(text: string | undefined): Position | undefined {
  if (text === undefined || text === "") return undefined;
  const position = readPosition(text);
  if (position === undefined) throw notAnId(text);
  return position;
}

const notAnId = (text: string): InputInvalid =>
  new InputInvalid(`"${text}" is not the id of an event.`, { advice: "It is a whole number." });

function streamOf(stream: ReadableStream<Uint8Array> | null): Response {
  return new Response(stream, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      ...(stream !== null && { "transfer-encoding": "chunked" }),
    },
  });
}

/** A client that stops reading must not keep a socket. */
const dropOf =
  (env: { readonly outgoing?: { destroy(): unknown } } | undefined): (() => void) =>
  () =>
    void env?.outgoing?.destroy();
