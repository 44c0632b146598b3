const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** "$3.42", "price unknown". Less than a cent is not shown as zero. */
export function money(usd: number | null): string {
  if (usd === null) return "price unknown";
  if (usd > 0 && usd < 0.005) return "<$0.01";
  return usd < 0 ? `-$${cents.format(-usd)}` : `$${cents.format(usd)}`;
}

/** A limit beside the spent amount: "15", "7.50". */
export function limitMoney(usd: number): string {
  return Number.isInteger(usd) ? usd.toLocaleString("en-US") : cents.format(usd);
}

/** "$0.90 to 2.40", or "$0.90" if both ends look the same. */
export function moneyRange({
  lowUsd,
  highUsd,
}: {
  readonly lowUsd: number;
  readonly highUsd: number;
}): string {
  const [low, high] = [money(lowUsd), money(highUsd)];
  return low === high ? high : `${low} to ${high.replace("$", "")}`;
}

/** Names the simulated share of an amount; undefined without one. */
export function simulatedText(costUsd: number | null, simulatedUsd: number): string | undefined {
  if (simulatedUsd < 0.000_001) return undefined;
  const isAll = costUsd !== null && simulatedUsd > costUsd - 0.000_001;
  return isAll ? "simulated, nothing was paid" : `${money(simulatedUsd)} of it simulated`;
}

/** Parses a dollar field; undefined if the text is not an amount. */
export function parseMoney(text: string): number | undefined {
  const plain = text.trim().replace(/^\$\s*/, "");
  if (!/^\d{1,3}(?:,?\d{3})*(?:\.\d{1,6})?$|^\d*\.\d{1,6}$/.test(plain)) return undefined;
  const usd = Number(plain.replaceAll(",", ""));
  return usd <= 1_000_000 ? usd : undefined;
}
