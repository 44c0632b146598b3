import type { SimulatedFault } from "./script.ts";

/** The very errors that provider packages throw, so that everything above meets what it would meet. */
export async function simulatedError(fault: SimulatedFault): Promise<Error> {
  const { APICallError } = await import("ai");
  const about = { url: "simulated:", requestBodyValues: {} };
  if ("status" in fault) {
    const { status, retryAfter, message } = fault;
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    return new APICallError({
      ...about,
      message: message ?? `Simulated failure: status ${status}.`,
      statusCode: status,
      responseHeaders: headers,
    });
  }
  if (fault.kind === "reset") {
    const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    return new APICallError({
      ...about,
      message: "Cannot connect to API: read ECONNRESET (simulated)",
      cause,
      isRetryable: true,
    });
  }
  if (fault.kind === "overflow") {
    const message = "Simulated failure: prompt is too long (context_length_exceeded).";
    return new APICallError({ ...about, message, statusCode: 400 });
  }
  return new APICallError({
    ...about,
    message: "Invalid JSON response (simulated)",
    statusCode: 200,
    responseBody: "<html>garbage</html>",
  });
}

/** How a connection ends that the other side closed in the middle of an answer. */
export const cutConnection = (): Error =>
  new TypeError("terminated", {
    cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
  });
