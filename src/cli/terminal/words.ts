/** What personas and people wrote must not steer the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ");
}

/** Times as people say them. */
export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  if (seconds < 172_800) return "yesterday";
  return `${Math.floor(seconds / 86_400)} days ago`;
}

/** How long something takes or took: "0.4 s", "12 s", "3 min 20 s", "2 h 5 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return joined(Math.floor(whole / 60), "min", whole % 60, "s");
  if (whole < 86_400) return joined(Math.floor(whole / 3_600), "h", Math.floor((whole % 3_600) / 60), "min");
  return joined(Math.floor(whole / 86_400), "d", Math.floor((whole % 86_400) / 3_600), "h");
}

function joined(many: number, unit: string, few: number, smaller: string): string {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${smaller}`;
}

/** For countdowns, which should not stand at 0 while one still waits. */
export function countdown(ms: number): string {
  return ms <= 0 ? "now" : duration(Math.max(1_000, Math.ceil(ms / 1_000) * 1_000)).replace(".0 s", " s");
}

/** "1,234,567"; the same on every machine. */
export function number(value: number): string {
  return Math.round(value)
    .toString()
    .replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Short, for places with little room: "950", "12.3k", "4.5M". */
export function shortNumber(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  if (value < 999_500) return `${scaled(value / 1_000)}k`;
  if (value < 999_500_000) return `${scaled(value / 1_000_000)}M`;
  return `${scaled(value / 1_000_000_000)}G`;
}

const scaled = (value: number): string => (value < 99.95 ? value.toFixed(1) : String(Math.round(value)));

/** Small sums with enough digits to be told from nothing. Null: the price is not known. */
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

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  if (size < 1_024 ** 2) return `${(size / 1_024).toFixed(1)} KiB`;
  if (size < 1_024 ** 3) return `${(size / 1_024 ** 2).toFixed(1)} MiB`;
  return `${(size / 1_024 ** 3).toFixed(1)} GiB`;
}

/** A call that was lost may be on the bill, unless nobody sends one. */
export function billing({
  calls,
  simulatedCalls,
}: {
  readonly calls: number;
  readonly simulatedCalls: number;
}): string {
  return calls > 0 && calls === simulatedCalls ? "never billed (simulated)" : "perhaps billed";
}

/** What calls cost, and whether that is money: the simulated model's prices are invented. */
export function cost(usage: {
  readonly costUsd: number | null;
  readonly calls: number;
  readonly simulatedCalls: number;
}): string {
  const { costUsd, calls, simulatedCalls } = usage;
  if (simulatedCalls === 0) return money(costUsd);
  return `${money(costUsd)} ${simulatedCalls === calls ? "simulated" : "partly simulated"}`;
}
