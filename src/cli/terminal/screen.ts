import type { WriteStream } from "node:tty";

/** What the terminal at the other end can do. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  /** Lines can be painted over. */
  readonly live: boolean;
}

/** What is no terminal leaves `isTTY` out, whatever Node's types say. */
type Stream = { readonly isTTY?: boolean } & Partial<Pick<WriteStream, "columns" | "rows">>;

/** Where nobody tells, nothing is cut. */
const unlimited = Number.POSITIVE_INFINITY;

export function screenOf(stream: Stream = process.stdout, env: NodeJS.ProcessEnv = process.env): Screen {
  const isTerminal = stream.isTTY === true;
  const dumb = env["TERM"] === "dumb";
  return {
    columns: sizeOf(stream.columns, isTerminal ? 80 : unlimited),
    rows: sizeOf(stream.rows, 24),
    color: wantsColor(env, isTerminal && !dumb),
    live: isTerminal && !dumb,
  };
}

/** A size of 0 is what some terminals say before they know theirs. */
const sizeOf = (size: number | undefined, otherwise: number): number =>
  size === undefined || size <= 0 ? otherwise : size;

/** https://no-color.org: set and not empty means no, whatever it is. */
function wantsColor(env: NodeJS.ProcessEnv, otherwise: boolean): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"] ?? "";
  return forced === "" ? otherwise : forced !== "0" && forced !== "false";
}
