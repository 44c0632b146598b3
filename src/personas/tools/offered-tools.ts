import type { Contract } from "../../domain/contract.ts";
import { TeamInvalid } from "../../domain/errors.ts";
import { builtIn, type OfferedTool } from "./offered-tool.ts";
import { type OwnTool, offerOwnTool } from "./own-tool.ts";
import { defaultTools, isTool, namedTools } from "./tool-table.ts";

/** A tool that the team's code has, as the definition records it. */
export interface OwnToolDefinition {
  readonly own: string;
  readonly repeatable: boolean;
}

/** The tools of a persona as the definition has them; `null`: the default ones. */
export type ToolChoice = readonly (string | OwnToolDefinition)[];

/** The tools as the team's code has them. */
export type OwnTools = Readonly<Record<string, OwnTool>>;

/** The tools that code wrote into `tools`, besides built-in ones. */
export function ownToolsOf(written: unknown): OwnTools {
  if (typeof written !== "object" || written === null || Array.isArray(written)) return {};
  return Object.fromEntries(
    Object.entries(written).filter((entry): entry is [string, OwnTool] => entry[1] !== true),
  );
}

/** The built-in tools of a persona: `submit` is always among them. */
export const builtInNames = (choice: ToolChoice | undefined) =>
  choice === undefined
    ? defaultTools
    : [...choice.filter((one) => typeof one === "string").filter(isTool), namedTools.submit].filter(
        (name, index, all) => all.indexOf(name) === index,
      );

/** All that the model of a persona is offered, in one order: it is part of what a recorded call is found again by. */
export async function offeredTools(
  persona: string,
  choice: ToolChoice | undefined,
  own: OwnTools,
  contract: Contract,
): Promise<readonly OfferedTool[]> {
  const builtIns = builtInNames(choice).map((name) => builtIn(name, contract));
  const others = await Promise.all(
    ownNames(choice).map((name) => offerOwnTool(persona, name, ownTool(persona, name, own))),
  );
  return [...builtIns, ...others];
}

export const ownNames = (choice: ToolChoice | undefined): readonly string[] =>
  (choice ?? []).flatMap((one) => (typeof one === "string" ? [] : [one.own]));

export function ownTool(persona: string, name: string, own: OwnTools): OwnTool {
  const found = own[name];
  if (found !== undefined) return found;
  throw new TeamInvalid(`The tool ${name} of persona ${persona} is missing.`, {
    advice: "Pass the team with its tools to open({ teams: [...] }), or its file with --team.",
  });
}
