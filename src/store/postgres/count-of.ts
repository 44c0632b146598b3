import type { Reply } from "../command.ts";
import type { Transaction } from "./transactions.ts";

export const removed = (count: number): Reply => ({ kind: "removed", found: count > 0 });

export async function countOf(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<number> {
  const [row] = await transaction.read<{ count: number }>(
    `WITH changed AS (${text} RETURNING 1) SELECT count(*) AS count FROM changed`,
    values,
  );
  return row?.count ?? 0;
}
