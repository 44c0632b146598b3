/** "1,234,567", the same on every machine. */
export function number(value: number): string {
  return Math.round(value)
    .toString()
    .replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Small sums keep enough digits to differ from zero. Null: the price is unknown. */
export function money(usd: number | null): string {
  if (usd === null) return "price unknown";
  if (usd < 0) return `-${money(-usd)}`;
  if (usd === 0) return "$0.00";
  if (usd < 0.0001) return "<$0.0001";
  if (usd < 0.1) return `$${usd.toFixed(4)}`;
  const [dollars = "0", cents = "00"] = usd.toFixed(2).split(".");
  return `$${number(Number(dollars))}.${cents}`;
}

export function count(many: number, one: string, more = `${one}s`): string {
  return `${number(many)} ${many === 1 ? one : more}`;
}
