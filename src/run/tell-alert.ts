import { microsToUsd } from "../domain/budget.ts";
import { alertText, type BudgetAlert } from "../domain/budget-alert.ts";
import { MaestroError } from "../domain/errors.ts";
import type { RecordedRow } from "../journal/journal.ts";
import { decodeTransition } from "../journal/journal-codec.ts";

export interface AlertReceiver {
  readonly url: string | undefined;
  readonly secret: string | undefined;
  readonly allowInternal: boolean;
}

/** A command that is done must not wait for long. */
const patienceMs = 10_000;

/** Brings warnings to the webhook, if there is one: once, as well as it can. */
export function alertTeller(
  { url, secret, allowInternal }: AlertReceiver,
  report: (notice: string) => void,
): (session: string, row: RecordedRow) => Promise<void> {
  return async (session, row) => {
    const entry = decodeTransition(row);
    if (url === undefined || secret === undefined || entry.kind !== "budget.alerted") return;
    const { alert } = entry;
    try {
      const { AlertWebhook } = await import("../tickets/alert-webhook.ts");
      const { limit, used, expected, ...of } = alert;
      const amounts = { limit, used, expected };
      const shown = alert.unit === "usd" ? inDollars(amounts) : amounts;
      const news = { session, text: alertText(alert), alert: { ...of, ...shown } };
      await new AlertWebhook({ url, secret, allowInternal }).post(news, AbortSignal.timeout(patienceMs));
    } catch (error) {
      const advice = MaestroError.is(error) && error.advice !== undefined ? ` ${error.advice}` : "";
      report(`The webhook did not get a warning (${alertText(alert)}): ${String(error)}${advice}`);
    }
  };
}

function inDollars({ limit, used, expected }: Pick<BudgetAlert, "limit" | "used" | "expected">) {
  return {
    limit: microsToUsd(limit),
    used: microsToUsd(used),
    expected: expected === null ? null : microsToUsd(expected),
  };
}
