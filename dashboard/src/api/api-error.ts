import type { Problem } from "./types.ts";

/** A problem that the server reported. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly advice: string | null;
  readonly requestId: string | null;
  readonly fields: ReadonlyMap<string, string>;

  constructor(problem: Pick<Problem, "status" | "code" | "detail"> & Partial<Problem>) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.advice = problem.advice ?? null;
    this.requestId = problem.requestId ?? null;
    this.fields = new Map(problem.fields?.map(({ field, message }) => [field, message]));
  }
}

/** No answer arrived. A request that changes something may or may not have been received. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly advice: string;

  constructor(changes: boolean, cause: unknown) {
    super("The server did not answer.", { cause });
    this.advice = changes
      ? "It may have arrived: look at the session before trying again."
      : "Is `maestro serve` running? The page tries again by itself.";
  }
}

/** Reads the body of an error; an unreadable body still gives an error to show. */
export async function readProblem(response: Response): Promise<ApiError> {
  const fallback = {
    status: response.status,
    code: `HTTP_${response.status}`,
    detail: `The server answered ${response.status}${response.statusText === "" ? "" : ` ${response.statusText}`}.`,
    requestId: response.headers.get("x-request-id") ?? undefined,
  };
  const { requestId, ...known } = fallback;
  const base = requestId === undefined ? known : { ...known, requestId };
  if (!(response.headers.get("content-type") ?? "").includes("json")) return new ApiError(base);
  try {
    const body = (await response.json()) as Partial<Problem>;
    return new ApiError({
      ...base,
      ...(typeof body.detail === "string" && body.detail !== "" && { detail: body.detail }),
      ...(typeof body.code === "string" && { code: body.code }),
      ...(typeof body.advice === "string" && { advice: body.advice }),
      ...(typeof body.requestId === "string" && { requestId: body.requestId }),
      ...(Array.isArray(body.fields) && { fields: body.fields }),
    });
  } catch {
    return new ApiError(base);
  }
}
