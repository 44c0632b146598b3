import { type Advice, advise } from "../domain/advice.ts";

/** The result stands in the command, because it cannot be corrected later. */
export const settleAdvice = (session: string, step: number | string): readonly Advice[] => [
  advise(
    "If it happened (replace null with the result of the step as JSON, if the work uses it)",
    "settle",
    session,
    String(step),
    "--happened",
    "null",
  ),
  advise("If it did not happen", "settle", session, String(step), "--did-not-happen"),
];
