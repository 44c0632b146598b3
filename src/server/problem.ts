import { adviceText, type CommandPlace } from "../domain/advice.ts";
import { MaestroError } from "../domain/errors.ts";

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** RFC 9457, with a stable code. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly advice: string | null;
  readonly requestId: string;
  readonly fields?: readonly FieldProblem[];
}

/** Errors that only the server raises. */
const httpProblems = {
  REQUEST_UNREADABLE: [400, "Request unreadable"],
  UNAUTHORIZED: [401, "Not signed in"],
  HOST_NOT_ALLOWED: [403, "Host not allowed"],
  ORIGIN_NOT_ALLOWED: [403, "Origin not allowed"],
  ROLE_NOT_ALLOWED: [403, "Role not allowed"],
  REPOSITORY_NOT_ALLOWED: [403, "Repository not allowed"],
  NOT_FOUND: [404, "Not found"],
  METHOD_NOT_ALLOWED: [405, "Method not allowed"],
  REQUEST_TIMEOUT: [408, "Request timeout"],
  BODY_TOO_LARGE: [413, "Body too large"],
  UNSUPPORTED_MEDIA_TYPE: [415, "Unsupported media type"],
  HEADERS_TOO_LARGE: [431, "Headers too large"],
  TOO_MANY_STREAMS: [503, "Too many streams"],
  TOO_MANY_UPLOADS: [503, "Too many uploads"],
  SHUTTING_DOWN: [503, "Shutting down"],
} as const;

export type HttpProblemCode = keyof typeof httpProblems;

/** Thrown inside a request; becomes its answer. */
export class HttpProblem extends Error {
  readonly code: HttpProblemCode;
  readonly advice: string | undefined;

  constructor(code: HttpProblemCode, detail: string, advice?: string) {
    super(detail);
    this.code = code;
    this.advice = advice;
  }
}

export class FieldsInvalid extends Error {
  readonly fields: readonly FieldProblem[];
  /** The underlying error, if it has its own code. */
  readonly error: MaestroError | undefined;

  constructor(message: string, fields: readonly FieldProblem[], error?: MaestroError) {
    super(message);
    this.fields = fields;
    this.error = error;
  }
}

/** Details of this machine are sent only for errors that were written for people. */
export function problemOf(error: unknown, requestId: string, place: CommandPlace = {}): Problem {
  if (error instanceof HttpProblem) {
    const [status, title] = httpProblems[error.code];
    return problem(
      { code: error.code, status, title, detail: error.message, advice: error.advice },
      requestId,
    );
  }
  if (error instanceof FieldsInvalid) {
    const known = { code: "INPUT_INVALID", status: 400, title: "Input invalid", detail: error.message };
    const described =
      error.error === undefined ? problem(known, requestId) : problemOf(error.error, requestId, place);
    return { ...described, fields: error.fields };
  }
  if (MaestroError.is(error)) {
    const { code, httpStatus: status } = error;
    const { detail, advice } = overHttp(error, place);
    return problem({ code, status, title: titleOf(code), detail, advice }, requestId);
  }
  const detail = "Something went wrong inside Maestro. Its log has more under this request id.";
  return problem({ code: "UNEXPECTED", status: 500, title: "Unexpected", detail }, requestId);
}

/** Advice that names a route of this API instead of a command. */
const adviceOf: Readonly<Record<string, string>> = {
  SESSION_NOT_FOUND: "GET /v1/sessions lists them.",
  CIRCUIT_OPEN: "It is tried again by itself. POST /v1/breakers/{name}/reset tries at once.",
};

/** Commands find this server's state. The message does not reveal where its files are. */
function overHttp(
  { code, message, actions, details }: MaestroError,
  place: CommandPlace,
): Pick<Known, "detail" | "advice"> {
  const { stateDirectory } = details as { readonly stateDirectory?: unknown };
  return {
    detail: typeof stateDirectory === "string" ? message.replace(` in ${stateDirectory}`, "") : message,
    advice: adviceOf[code] ?? (actions.length === 0 ? undefined : adviceText(actions, place)),
  };
}

export function problemResponse(
  described: Problem,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(described), {
    status: described.status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}

interface Known extends Pick<Problem, "code" | "status" | "title" | "detail"> {
  readonly advice?: string | undefined;
}

function problem({ advice, ...known }: Known, requestId: string): Problem {
  return { type: `urn:maestro:problem:${known.code}`, ...known, advice: advice ?? null, requestId };
}

/** SESSION_NOT_FOUND: "Session not found" */
function titleOf(code: string): string {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
