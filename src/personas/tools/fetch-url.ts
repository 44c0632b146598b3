import { InputInvalid } from "../../domain/errors.ts";
import { listedAs, portOf } from "../../workspace/network/host-list.ts";
import type { FetchUrl } from "../model/ports.ts";
import type { KeepText, ToolArguments, ToolDone } from "./tool-call.ts";
import { shownPart } from "./tool-value.ts";

/** The text of a page is data, so the model sees its address. */
export async function fetchUrlTool(
  { url }: ToolArguments,
  fetchUrl: FetchUrl | undefined,
  keepText: KeepText | undefined,
  signal: AbortSignal,
): Promise<ToolDone> {
  if (fetchUrl === undefined) throw new InputInvalid("There is no way to read pages here.");
  const page = await fetchUrl(url as string, signal);
  const text = page.text.trim() === "" ? "[the page has no text]" : page.text;
  return shownPart(`[${page.url}, ${page.type}]\n${text}`, keepText);
}

/** By the entry of the list: names that a model makes up must not become breakers. */
export function webDependency(allow: readonly string[]): (args: ToolArguments) => string | undefined {
  return ({ url: text }) => {
    const url = typeof text === "string" ? URL.parse(text) : null;
    const entry = url === null ? undefined : listedAs(allow, url.hostname, portOf(url));
    return entry === undefined ? undefined : `web/${entry}`;
  };
}
