import { GovernanceViolation } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { changesBetween, type Tree } from "../../domain/tree.ts";
import { namedMatcher } from "../../workspace/named-files.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { PolicyDecision, ToolPolicy } from "../model/ports.ts";
import { isTool, tools } from "./tool-table.ts";

/** The rights of a persona; null means all that its contract asks for. The model cannot change them. */
export interface PersonaPolicy {
  readonly write: readonly string[] | null;
  readonly checks: readonly string[] | null;
  readonly tools: readonly string[] | null;
}

/** Asked before each tool call; a refusal is recorded and told to the model. */
export function toolPolicy(policy: PersonaPolicy): ToolPolicy {
  const mayWrite = writeRule(policy);
  return {
    allow(tool: string, args: Readonly<Record<string, Json>>): PolicyDecision {
      if (policy.tools !== null && !policy.tools.includes(tool))
        return refused(`the tool ${tool} is not one of ${list(policy.tools)}`);
      const { writes, runsCheck } = isTool(tool) ? tools[tool] : {};
      const path = args["path"];
      if (writes && typeof path === "string" && !mayWrite(path))
        return refused(`${path} is not one of the files this persona may write: ${list(policy.write ?? [])}`);
      const name = typeof args["name"] === "string" ? args["name"] : "";
      if (runsCheck && policy.checks !== null && !policy.checks.includes(name))
        return refused(`the check ${name} is not one of ${list(policy.checks)}`);
      return { allowed: true };
    },
  };
}

/** Which paths a persona may write, by its policy. */
export function writeRule({ write }: PersonaPolicy): (path: string) => boolean {
  return write === null ? () => true : namedMatcher(write);
}

/**
 * However the work wrote: when it changed a path that the policy does not allow, all its changes are put back, and the
 * failure is not retried.
 */
export function refuseForbidden(
  persona: string,
  policy: PersonaPolicy,
  began: Tree,
  files: Pick<Workspace, "tree" | "reapply">,
): void {
  if (policy.write === null) return;
  const mayWrite = writeRule(policy);
  const paths = changesBetween(began, files.tree).flatMap(({ path }) => (mayWrite(path) ? [] : [path]));
  if (paths.length === 0) return;
  files.reapply(changesBetween(files.tree, began));
  throw new GovernanceViolation(
    `${persona} changed files that it may not write: ${paths.slice(0, 10).join(", ")}`,
    {
      details: { persona, paths: paths.slice(0, 100) },
      advice: `It may write only: ${list(policy.write)}. Correct its work or its policy.write, then resume.`,
    },
  );
}

const refused = (reason: string): PolicyDecision => ({ allowed: false, reason });
const list = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
