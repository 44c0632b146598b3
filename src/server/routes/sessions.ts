import { createRoute, z } from "@hono/zod-openapi";
import type { Maestro } from "../../api/open.ts";
import type { Cursor } from "../../domain/cursor.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { type SessionStatus, sessionStatuses } from "../../journal/standing.ts";
import { startRequest } from "../schemas/actions.ts";
import { sessionsPage, sessionView } from "../schemas/session.ts";
import type { ServerParts } from "../server-parts.ts";
import { viewCounts } from "../server-status.ts";
import { startSession } from "../start-session.ts";
import { type App, addRoute, body, json, problems } from "./route.ts";

const mostSessions = 500;
const finished: readonly SessionStatus[] = ["parked", "completed", "failed", "canceled"];

export const timeParameter = z
  .string()
  .max(40)
  .refine(
    (text) => !Number.isNaN(Date.parse(text)),
    "It must be a time such as 2026-11-15 or 2026-11-15T02:14:07Z.",
  )
  .optional();

const listQuery = z.object({
  status: z.string().max(200).optional().openapi({
    description: "Several separated by commas. `retrying`, only alone: running with a persona that waits.",
  }),
  q: z.string().max(200).optional().openapi({ description: "Part of an id, key, team or brief." }),
  team: z.string().max(200).optional(),
  since: timeParameter.openapi({ description: "Created at this time or later." }),
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(mostSessions).default(50),
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/sessions",
  operationId: "listSessions",
  summary: "Sessions, newest first",
  request: { query: listQuery },
  responses: { 200: json("A page of sessions.", sessionsPage), ...problems },
});

const startRoute = createRoute({
  method: "post",
  path: "/v1/sessions",
  operationId: "startSession",
  summary: "Start a session with a registered team, or resume the one with this key",
  request: { body: body(startRequest) },
  responses: {
    201: json("The session; it waits for its turn.", sessionView),
    200: json("The session that already has this key. It resumes.", sessionView),
    ...problems,
  },
});

export function addSessionRoutes(app: App, parts: ServerParts): void {
  const { maestro, rows, book, pages, actions } = parts;

  addRoute(app, "viewer", listRoute, async (c) => {
    const { status, q, team, since, cursor, limit } = c.req.valid("query");
    const filter = {
      text: q === "" ? undefined : q,
      team,
      since: since === undefined ? undefined : Date.parse(since),
    };
    const { statuses, isHeld } = readStatuses(status);
    const order = statuses?.every((each) => finished.includes(each)) ? "status" : "created";
    const heldAt = isHeld ? parts.clock.now() : undefined;
    const after = cursor === undefined ? undefined : readCursor(cursor, order);
    // Read before the list, so that an event in between is sent again rather than missed.
    const position = await maestro.position();
    const [found, counts] = await Promise.all([
      maestro.list({ ...filter, statuses, heldAt, order, after, limit: limit + 1 }),
      maestro.count(filter),
    ]);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return c.json({
      sessions: await rows.rows(page),
      cursor: found.length > limit && last !== undefined ? writeCursor(order, last.cursor) : null,
      position,
      total: isHeld ? counts.held : totalOf(counts, statuses),
      counts: viewCounts(counts),
    } satisfies z.infer<typeof sessionsPage>);
  });

  addRoute(app, "operator", startRoute, async (c) => {
    const { id, isNew } = await startSession(c.req.valid("json"), parts);
    actions.queued(id);
    const view = await pages.view(await book.open(id));
    c.header("location", `/v1/sessions/${id}`);
    return c.json(view, isNew ? 201 : 200);
  });
}

function readStatuses(text: string | undefined): {
  statuses: readonly SessionStatus[] | undefined;
  isHeld: boolean;
} {
  if (text === undefined || text === "") return { statuses: undefined, isHeld: false };
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("retrying")) {
    if (names.length === 1) return { statuses: ["running"], isHeld: true };
    throw new InputInvalid("status=retrying cannot be combined with other statuses.", {
      advice: "It is a part of running: ask for it alone.",
    });
  }
  const wrong = names.filter((name) => !(sessionStatuses as readonly string[]).includes(name));
  if (wrong.length > 0)
    throw new InputInvalid(`"${wrong.join(",")}" is not a status.`, {
      advice: `One or more of: ${[...sessionStatuses, "retrying"].join(", ")}.`,
    });
  return { statuses: [...new Set(names)] as SessionStatus[], isHeld: false };
}

type Counts = Awaited<ReturnType<Maestro["count"]>>;

const totalOf = ({ byStatus }: Counts, statuses: readonly SessionStatus[] = sessionStatuses): number =>
  statuses.reduce((sum, status) => sum + byStatus[status], 0);

function writeCursor(order: string, cursor: Cursor): string {
  return Buffer.from(JSON.stringify([order, cursor])).toString("base64url");
}

/** A cursor is valid only for its own list. In another order it would skip sessions. */
function readCursor(text: string, order: string): Cursor {
  try {
    const [of, cursor] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (of === order && typeof cursor === "string") return cursor as Cursor;
  } catch {
    // Rejected below, like any invalid cursor.
  }
  throw new InputInvalid("The cursor does not belong to this list.", {
    advice: "Use the cursor of the page before, with the same status.",
  });
}
