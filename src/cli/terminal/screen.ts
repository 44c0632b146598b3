import type { WriteStream } from "node:tty";

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  /** Lines can be repainted. */
  readonly live: boolean;
}

/** `isTTY` is undefined for pipes and files, although Node's types say boolean. */
type Stream = { readonly isTTY?: boolean } & Partial<Pick<WriteStream, "columns" | "rows">>;

/** Without a terminal nothing is cut. */
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

/** Some terminals report 0 until they know their size. */
const sizeOf = (size: number | undefined, otherwise: number): number =>
  size === undefined || size <= 0 ? otherwise : size;

/** https://no-color.org: any value but the empty one turns colors off. */
function wantsColor(env: NodeJS.ProcessEnv, otherwise: boolean): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"] ?? "";
  return forced === "" ? otherwise : forced !== "0" && forced !== "false";
}
