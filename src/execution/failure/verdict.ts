import type { FailureInput } from "../../domain/failure.ts";

/** What one look at an error decides; the message and the details are added by the caller. */
export type Verdict = Omit<FailureInput, "message" | "source"> & { readonly message?: string | undefined };
