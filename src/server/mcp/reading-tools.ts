import { setTimeout as delay } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { SessionPageView } from "../schemas/session.ts";
import { summaryOf } from "./summary.ts";
import { type Api, askJson, askText, cutResult, query, sessionPath, show, type Tool, tool } from "./tool.ts";

export const session = z.string().min(1).max(300).describe("The session's id or key");
const lookEveryMs = 500;
const mostSeconds = 600;
const isReadOnly = true;

const view = (api: Api, name: string) =>
  askJson<SessionPageView>(api, { method: "GET", path: sessionPath(name) });

export const readingTools: readonly Tool[] = [
  tool({
    name: "list_sessions",
    description: "List sessions, the newest first",
    isReadOnly,
    input: z.object({
      status: z
        .string()
        .optional()
        .describe("queued, running, paused, parked, completed, failed or canceled"),
      text: z.string().optional().describe("Part of an id, key, team or brief"),
      limit: z.number().int().min(1).max(100).default(20),
    }),
    call: async ({ status, text, limit }, api) => {
      const path = `/v1/sessions${query({ status, q: text, limit })}`;
      const { sessions } = await askJson<{ sessions: Readonly<Record<string, unknown>>[] }>(api, {
        method: "GET",
        path,
      });
      const fields = ["id", "key", "team", "owner", "status", "reason", "headline", "createdAt"];
      return show(sessions.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]]))));
    },
  }),
  tool({
    name: "show_session",
    description: "Show the state of a session: phases, what waits for a person, cost",
    isReadOnly,
    input: z.object({ session }),
    call: async (input, api) => show(summaryOf(await view(api, input.session))),
  }),
  tool({
    name: "watch_session",
    description: "Wait until a session stops or needs a person, or until the time is over; then show it",
    isReadOnly,
    input: z.object({ session, seconds: z.number().min(0).max(mostSeconds).default(60) }),
    call: async (input, api, signal) => {
      const endsAt = performance.now() + input.seconds * 1_000;
      for (;;) {
        const found = await view(api, input.session);
        const isMoving = found.status === "running" || found.status === "queued";
        if (!isMoving || performance.now() >= endsAt) return show(summaryOf(found));
        await delay(lookEveryMs, undefined, { signal });
      }
    },
  }),
  tool({
    name: "transcript",
    description: "What the personas were asked, answered and did, in order",
    isReadOnly,
    input: z.object({
      session,
      persona: z.string().optional(),
      after: z.number().int().min(0).default(0).describe("Only items of journal rows after this number"),
      limit: z.number().int().min(1).max(200).default(50),
    }),
    call: async ({ session: name, ...part }, api) =>
      cutResult(
        await askText(api, {
          method: "GET",
          path: sessionPath(name, `/transcript${query({ ...part, messages: "new" })}`),
        }),
      ),
  }),
  tool({
    name: "usage",
    description: "Tokens and money, of one session or of all",
    isReadOnly,
    input: z.object({
      session: session.optional(),
      by: z.enum(["persona", "phase", "model", "session", "day"]).default("persona"),
    }),
    call: async (input, api) => {
      const { total, rows } = await askJson<{ total: unknown; rows: unknown }>(api, {
        method: "GET",
        path: `/v1/usage${query(input)}`,
      });
      return show({ total, rows });
    },
  }),
  tool({
    name: "diff",
    description: "What a session, or one of its phases, changed, as a patch",
    isReadOnly,
    input: z.object({ session, phase: z.string().optional() }),
    call: async ({ session: name, phase }, api) => {
      const path = sessionPath(name, `/diff${query({ phase })}`);
      const patch = await askText(api, { method: "GET", path, accept: "text/x-diff" });
      return patch === "" ? "Nothing changed." : cutResult(patch);
    },
  }),
  tool({
    name: "files",
    description: "List the files of a session; with a path, the text of that file",
    isReadOnly,
    input: z.object({
      session,
      path: z.string().optional(),
      at: z.string().optional().describe("head (default), phase:<name> or attempt:<place>"),
    }),
    call: async ({ session: name, path, at }, api) => {
      const tree = await askJson<{ files: readonly { path: string; sha256: string }[] }>(api, {
        method: "GET",
        path: sessionPath(name, `/artifacts${query({ at })}`),
      });
      if (path === undefined) return show(tree.files.map((file) => file.path));
      const found = tree.files.find((file) => file.path === path);
      if (found === undefined) return `There is no file ${path}. Call this without a path to list them.`;
      return cutResult(
        await askText(api, { method: "GET", path: sessionPath(name, `/artifacts/${found.sha256}`) }),
      );
    },
  }),
];
