import { createRoute, z } from "@hono/zod-openapi";
import { attachmentLimits, attachmentTypes } from "../../domain/attachment.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { HttpProblem } from "../problem.ts";
import { attachmentView, uploadView } from "../schemas/server.ts";
import type { ServerParts } from "../server-parts.ts";
import { type App, addRoute, json, problems } from "./route.ts";

export const uploadsPath = "/v1/uploads";
const maxBytes = 512 * 1024 * 1024;
/** Each upload unpacks on a thread and writes to the disk. */
const mostAtOnce = 2;

/** The first bytes of the archive decide its format. The type only keeps other bodies away. */
const types = [
  "application/gzip",
  "application/x-gzip",
  "application/zip",
  "application/x-zip-compressed",
  "application/octet-stream",
] as const;
/** The same applies to single files. */
const fileTypes = [...attachmentTypes, "application/octet-stream"] as const;
const binary = { schema: z.string().openapi({ format: "binary" }) };

const uploadRoute = createRoute({
  method: "post",
  path: uploadsPath,
  operationId: "uploadFiles",
  summary:
    "Send a tar.gz or zip whose files sessions can begin with, or with a name the attachment of a brief",
  request: {
    query: z.object({
      name: z.string().min(1).max(attachmentLimits.nameLength).optional().openapi({
        description: "The file's name. It says that the body is an image or a text for `attachments`.",
      }),
    }),
    body: {
      required: true,
      content: Object.fromEntries([...types, ...attachmentTypes].map((type) => [type, binary])),
    },
  },
  responses: {
    201: json(
      "The upload, and the files of it that were left out; or the attachment.",
      z.union([uploadView, attachmentView]),
    ),
    ...problems,
  },
});

export function addUploadRoutes(app: App, { maestro }: ServerParts): void {
  let running = 0;
  addRoute(app, "operator", uploadRoute, async (c) => {
    const { body, headers } = c.req.raw;
    const { name } = c.req.valid("query");
    checkHeaders(headers, name === undefined ? types : fileTypes);
    if (body === null) throw new InputInvalid("The request has no body.", { advice: "Send the archive." });
    if (running >= mostAtOnce)
      throw new HttpProblem("TOO_MANY_UPLOADS", "Other uploads are running.", "Try again in a minute.");
    running += 1;
    try {
      if (name !== undefined) {
        const { expiresAt, ...attached } = await maestro.takeAttachment(name, body);
        return c.json({ ...attached, expiresAt: isoTime(expiresAt) }, 201);
      }
      const { expiresAt, ...taken } = await maestro.takeUpload(body).catch((error: unknown) => {
        throw isTooLarge(error) ? tooLarge() : error;
      });
      return c.json({ ...taken, expiresAt: isoTime(expiresAt) }, 201);
    } finally {
      running -= 1;
    }
  });
}

function checkHeaders(headers: Headers, known: readonly string[]): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (!known.includes(type))
    throw new HttpProblem(
      "UNSUPPORTED_MEDIA_TYPE",
      type === "" ? "The body has no content type." : `Bodies of type ${type.slice(0, 100)} are not read.`,
      known === fileTypes
        ? `Send an image or a text with its content-type: ${attachmentTypes.join(", ")}.`
        : "Send a tar.gz with content-type: application/gzip, or a zip with content-type: application/zip.",
    );
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
}

const isTooLarge = (error: unknown): boolean =>
  InputInvalid.is(error) && error.details["maxBytes"] !== undefined;

const tooLarge = (): HttpProblem =>
  new HttpProblem(
    "BODY_TOO_LARGE",
    `The archive is larger than ${maxBytes} bytes.`,
    "Leave out what the work does not need, such as installed packages.",
  );
