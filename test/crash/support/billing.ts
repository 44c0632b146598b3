import { expect } from "vitest";
import type { LedgerCall } from "../../../src/store/reports.ts";
import type { Billed } from "../../support/paid-models.ts";

/**
 * Compares the ledger with the provider's log: every settled row is one answer, to the token; every other answer has an
 * estimated row that was reserved before the request; and no request came again after its answer was recorded.
 */
export function expectPaidOnce(ledger: readonly LedgerCall[], log: readonly Billed[]): void {
  const settled = ledger.filter(({ status }) => status === "settled");
  const recorded = settled.map((row) => {
    const answers = log.filter((billed) => isSame(row, billed));
    expect(answers, `answers of ledger row ${row.reservation}`).toHaveLength(1);
    return answers[0] as Billed;
  });
  expect(new Set(recorded).size, "an answer is settled once").toBe(settled.length);
  for (const answer of recorded) {
    const again = log.filter(({ hash, number }) => hash === answer.hash && number > answer.number);
    expect(again, "asked again although the answer was recorded").toEqual([]);
  }
  const questions = new Set(log.map(({ hash }) => hash));
  expect(new Set(recorded.map(({ hash }) => hash)), "every question has its answer").toEqual(questions);

  const estimated = ledger.filter(({ status }) => status === "estimated");
  const lost = log.filter((billed) => !recorded.includes(billed));
  for (const billed of lost) {
    const at = estimated.findIndex((row) => covers(row, billed));
    expect(at, `an estimated row for answer ${billed.number} of ${billed.persona}`).toBeGreaterThanOrEqual(0);
    estimated.splice(at, 1);
  }
  expect(settled.length + ledger.filter(({ status }) => status === "estimated").length).toBe(ledger.length);
}

function isSame(row: LedgerCall, { usage, persona }: Billed): boolean {
  if (row.status !== "settled" || row.usage === null) return false;
  const { inputTokens, cachedInputTokens, outputTokens } = row.usage;
  return (
    row.persona === persona &&
    inputTokens === usage.input &&
    cachedInputTokens === usage.cached &&
    outputTokens === usage.output
  );
}

/** Reserved before the request arrived, and counted after it. */
function covers(row: LedgerCall, { persona, at }: Billed): boolean {
  return row.status === "estimated" && row.persona === persona && row.at <= at && at <= row.endedAt;
}
