import type { z } from "@hono/zod-openapi";

/** A request to the HTTP API. Its route decides about roles, so a tool can do no more than its caller. */
export interface ApiRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly accept?: string;
}

export type Api = (request: ApiRequest) => Promise<Response>;

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly isReadOnly: boolean;
  /** The text of the result. */
  readonly call: (input: z.infer<Input>, api: Api, signal: AbortSignal) => Promise<string>;
}

export const tool = <Input extends z.ZodObject>(definition: Tool<Input>): Tool => definition;

/** A refusal of the API, for the model that called. */
export class Refused extends Error {}

/** What a client shows to its model is short. */
const longestResult = 60_000;

export async function askJson<T>(api: Api, request: ApiRequest): Promise<T> {
  return JSON.parse(await askText(api, request)) as T;
}

export async function askText(api: Api, request: ApiRequest): Promise<string> {
  const answer = await api(request);
  const text = await answer.text();
  if (answer.ok) return text;
  throw new Refused(refusalOf(text, answer.status));
}

function refusalOf(text: string, status: number): string {
  try {
    const { detail, advice, code } = JSON.parse(text) as Readonly<Record<string, string | null>>;
    return [detail, advice, `(${code})`].filter((part) => part != null).join(" ");
  } catch {
    return `The request failed with status ${status}.`;
  }
}

export const cutResult = (text: string): string =>
  text.length <= longestResult
    ? text
    : `${text.slice(0, longestResult).toWellFormed()}\n… ${text.length - longestResult} more characters were left out.`;

export const show = (value: unknown): string => cutResult(JSON.stringify(value, null, 1));

/** The path of a session, by id or key. */
export const sessionPath = (session: string, rest = ""): string =>
  `/v1/sessions/${encodeURIComponent(session)}${rest}`;

export function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}
