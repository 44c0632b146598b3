import { readProperty } from "../domain/bounded-json.ts";

/** The HTTP status that an error in a body names. Compatible servers write it as its code, and some as text. */
export function reportedStatus(error: object): number | undefined {
  for (const key of ["statusCode", "status", "code"]) {
    const value = readProperty(error, key);
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599)
      return status;
  }
  return undefined;
}
