import { isJsonObject, type JsonObject, parseJson } from "../../domain/json.ts";
import { changesBetween } from "../../domain/tree.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Healer } from "./healer.ts";

/** Scripts that projects use to format or fix their code. The first that exists runs. */
const scripts = ["fix", "lint:fix", "format:fix", "format"];

/** Runs the project's own formatter or fixer in the sandbox. */
export const runProjectTools: Healer = {
  name: "project-tools",
  // Also what no reader understood: many formatters only end with 1.
  categories: ["SYNTAX", "TYPE", "ARCHITECTURE", "CONTRACT", "IMPORT", "UNKNOWN"],
  heal: async ({ workspace, checks, runTool }) => {
    // Without results of checks there is nothing to fix.
    if (!checks.some(({ kind, status }) => kind === "command" && status === "failed")) return undefined;
    const argv = await toolOf(workspace);
    if (argv === undefined) return undefined;
    const before = workspace.tree;
    const { exitCode } = await runTool(argv);
    const paths = changesBetween(before, workspace.tree).map(({ path }) => path);
    if (exitCode === null || paths.length === 0) return undefined;
    return { action: { kind: "ran-tool", argv, paths } };
  },
};

async function toolOf(workspace: Workspace): Promise<readonly string[] | undefined> {
  if (!workspace.tree.has("package.json")) return undefined;
  const known = await readScripts(workspace);
  const script = scripts.find((name) => typeof known[name] === "string");
  return script === undefined ? undefined : ["npm", "run", "--silent", script];
}

async function readScripts(workspace: Workspace): Promise<JsonObject> {
  try {
    const project = parseJson(await workspace.readText("package.json"));
    const found = isJsonObject(project) ? project["scripts"] : undefined;
    return isJsonObject(found ?? null) ? (found as JsonObject) : {};
  } catch {
    return {};
  }
}
