import { createRoute, z } from "@hono/zod-openapi";
import { nameOf } from "../../domain/advice.ts";
import { downloadHeaders } from "../access/security-headers.ts";
import { fileChanges } from "../schemas/inside.ts";
import type { ServerParts } from "../server-parts.ts";
import { type App, addRoute, problems } from "./route.ts";
import { idParam } from "./session.ts";

const name = z.string().min(1).max(300);
const patchType = "text/x-diff";
const types = { zip: "application/zip", "tar.gz": "application/gzip" } as const;
/** A page lists no more. The patch has all of them. */
const mostFiles = 2_000;

const archiveRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/archive",
  operationId: "downloadArchive",
  summary: "The files of one of the session's trees, with modes and links",
  request: {
    params: idParam,
    query: z.strictObject({
      format: z.enum(["zip", "tar.gz"]).default("tar.gz"),
      at: z.string().min(1).max(1_000).default("head").openapi({
        description:
          "head, base, a phase, phase:<name>@<revision>, attempt:<number>, attempt:<phase>/<persona>/r1a2",
      }),
    }),
  },
  responses: {
    200: {
      description: "The archive. The same tree has the same bytes.",
      content: {
        "application/gzip": { schema: z.string().openapi({ format: "binary" }) },
        "application/zip": { schema: z.string().openapi({ format: "binary" }) },
      },
    },
    ...problems,
  },
});

const diffRoute = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/diff",
  operationId: "diffSession",
  summary: "The changes against the base, or those of a phase, a persona or an attempt",
  request: {
    params: idParam,
    query: z.strictObject({
      phase: name.optional(),
      persona: name.optional(),
      attempt: z.coerce.number().int().min(1).max(100_000).optional(),
      against: name.optional().openapi({
        description:
          "Id or key of a session to compare with instead of the base; with a phase, that phase of both.",
      }),
    }),
  },
  responses: {
    200: {
      description: "A patch that `git apply` takes; with `Accept: application/json`, the changed files.",
      content: { [patchType]: { schema: z.string() }, "application/json": { schema: fileChanges } },
    },
    ...problems,
  },
});

/** Routes that deliver or download a session's files. */
export function addDeliveryRoutes(app: App, { maestro }: ServerParts): void {
  addRoute(app, "viewer", archiveRoute, async (c) => {
    const { format, at } = c.req.valid("query");
    const session = await maestro.find(c.req.valid("param").id);
    const content = await maestro.archive(session.id, { format, at });
    const headers = downloadHeaders(types[format], fileName(nameOf(session), at, format));
    return new Response(ReadableStream.from(content), { headers });
  });

  addRoute(app, "viewer", diffRoute, async (c) => {
    const { phase, persona, attempt, against } = c.req.valid("query");
    const session = await maestro.find(c.req.valid("param").id);
    const part = {
      ...(phase !== undefined && { phase }),
      ...(persona !== undefined && { persona }),
      ...(attempt !== undefined && { attempt }),
      ...(against !== undefined && { against }),
    };
    if (wantsJson(c.req.header("accept"))) {
      const files = await maestro.changedFiles(session.id, part);
      return c.json({ files: files.slice(0, mostFiles), more: Math.max(0, files.length - mostFiles) }, 200);
    }
    const patch = await maestro.diff(session.id, part);
    const file = fileName(nameOf(session), [phase, persona, attempt].filter(Boolean).join("-"), "patch");
    return new Response(new Uint8Array(patch), { headers: downloadHeaders(patchType, file) });
  });
}

const wantsJson = (accept = ""): boolean =>
  accept.includes("application/json") && !accept.includes(patchType);

/** Keys may contain any character, unlike headers and file names. */
function fileName(session: string, at: string, ending: string): string {
  const plain = (text: string) => text.replace(/[^\w.-]+/g, "-").replace(/^[.-]+|[.-]+$/g, "");
  const parts = [plain(session), at === "head" ? "" : plain(at)].filter((part) => part !== "");
  return `${parts.join("-").slice(0, 120) || "files"}.${ending}`;
}
