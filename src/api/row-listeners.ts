import { microsToUsd } from "../domain/budget.ts";
import { alertText, type BudgetAlert } from "../domain/budget-alert.ts";
import { MaestroError } from "../domain/errors.ts";
import { attemptsOf, FactReader } from "../journal/fact-reader.ts";
import { endsDrive } from "../journal/facts.ts";
import type { RecordedRow } from "../journal/journal.ts";
import { decodeTransition } from "../journal/journal-codec.ts";
import type { SessionEvent } from "../journal/public-fact.ts";
import type { SessionState } from "../journal/session-state.ts";

/** Sends the facts of committed rows to a listener. */
export class SessionEvents {
  readonly #listener: (event: SessionEvent) => void;
  readonly #readers = new Map<string, FactReader>();

  constructor(listener: (event: SessionEvent) => void) {
    this.#listener = listener;
  }

  tell(state: SessionState, rows: readonly RecordedRow[]): void {
    const sessionId = state.id;
    let reader = this.#readers.get(sessionId);
    if (reader === undefined) {
      reader = new FactReader(attemptsOf(state));
      this.#readers.set(sessionId, reader);
    }
    for (const row of rows) {
      const fact = reader.read(row);
      // Another process may drive the session next, so its running attempts are looked up again.
      if (endsDrive(fact)) this.#readers.delete(sessionId);
      this.#listener({ sessionId, ...fact });
    }
  }
}

export interface AlertReceiver {
  readonly url: string | undefined;
  readonly secret: string | undefined;
  readonly allowInternal: boolean;
}

/** A finished command must not wait long. */
const patienceMs = 10_000;

/** Posts budget warnings to the webhook, if one is configured. One attempt, no retry. */
export function alertPoster(
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
      report(
        `A budget warning (${alertText(alert)}) could not be posted to the webhook: ${String(error)}${advice}`,
      );
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
