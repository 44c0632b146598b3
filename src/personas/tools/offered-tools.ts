import { canonicalJson, sha256 } from "../../domain/canonical.ts";
import type { Contract } from "../../domain/contract.ts";
import { TeamInvalid } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { webDependency } from "./fetch-url.ts";
import { builtIn, type OfferedTool } from "./offered-tool.ts";
import { type OwnTool, offerOwnTool } from "./own-tool.ts";
import { defaultTools, isTool, namedTools, type ToolEffect, type ToolName } from "./tool-table.ts";

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

export interface ToolSources {
  readonly tools: ToolChoice | undefined;
  /** Those of the team's code. */
  readonly ownTools: OwnTools;
  /** Of commands. */
  readonly shellEffect: ToolEffect;
  /** Of all its skills: then it has the tool that reads them. */
  readonly skillsHash?: string | undefined;
  /** The hosts whose pages it may read. */
  readonly webHosts: readonly string[];
  /** Rules for calls that wait for a person's approval. */
  readonly approve: readonly string[];
}

export function builtInTool(
  name: ToolName,
  contract: Contract,
  { shellEffect, webHosts }: Pick<ToolSources, "shellEffect" | "webHosts">,
): OfferedTool {
  const tool = builtIn(name, contract);
  if (name === namedTools.command) return { ...tool, effect: shellEffect };
  if (name !== namedTools.fetch) return tool;
  const description = `${tool.description} It reads these hosts only: ${webHosts.join(", ")}.`;
  return { ...tool, description, dependency: webDependency(webHosts) };
}

/** All that the model of a persona is offered, in one order: it is part of what a recorded call is found again by. */
export async function offeredTools(
  persona: string,
  sources: ToolSources,
  contract: Contract,
): Promise<readonly OfferedTool[]> {
  const { tools, ownTools, skillsHash } = sources;
  const named = builtInNames(tools);
  const { skill } = namedTools;
  const needed = skillsHash !== undefined && !named.includes(skill) ? [skill] : [];
  const builtIns = [...needed, ...named].map((name) => {
    const tool = builtInTool(name, contract, sources);
    const reads = name === skill ? skillsHash : name === namedTools.check ? checksHash(contract) : undefined;
    return reads === undefined ? tool : { ...tool, reads };
  });
  const others = await Promise.all(
    ownNames(tools).map((name) => offerOwnTool(persona, name, ownTool(persona, name, ownTools))),
  );
  return [...builtIns, ...others];
}

/** Calls name a check: with another command of that name, a recorded answer is not true. */
const checksHash = ({ checks }: Contract): string => sha256(canonicalJson(checks as unknown as Json));

/** Globs of the tools of MCP servers: "github/*". */
export const serverPatterns = (choice: ToolChoice | undefined): readonly string[] =>
  (choice ?? []).filter((one) => typeof one === "string").filter((one) => one.includes("/"));

export const ownNames = (choice: ToolChoice | undefined): readonly string[] =>
  (choice ?? []).flatMap((one) => (typeof one === "string" ? [] : [one.own]));

export function ownTool(persona: string, name: string, own: OwnTools): OwnTool {
  const found = own[name];
  if (found !== undefined) return found;
  throw new TeamInvalid(`The tool ${name} of persona ${persona} is missing.`, {
    advice: "Pass the team with its tools to open({ teams: [...] }), or its file with --team.",
  });
}
