import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { type AgentName, agentLogins, agentNames, agentVariables } from "../personas/command/agent.ts";
import { findInstall } from "../workspace/find-install.ts";
import { searchPath } from "../workspace/find-program.ts";

/** A coding agent that is installed on this machine. */
export interface InstalledAgent {
  readonly name: AgentName;
  readonly path: string;
  /** Null where its package does not say. */
  readonly version: string | null;
  /** Its variables that are set here. */
  readonly variables: readonly string[];
  /** The file of its login, if there is one. */
  readonly login: string | null;
}

/** Finds the coding agents on the PATH. None of them is started: their packages have their versions. */
export async function describeAgents(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly InstalledAgent[]> {
  const found = await Promise.all(
    agentNames.map(async (name): Promise<readonly InstalledAgent[]> => {
      const install = await findInstall(name, searchPath());
      if (install === undefined) return [];
      const login = join(homedir(), agentLogins[name]);
      return [
        {
          name,
          path: install.path,
          version: await versionOf(install.target),
          variables: agentVariables[name].filter((variable) => (env[variable] ?? "") !== ""),
          login: (await exists(login)) ? login : null,
        },
      ];
    }),
  );
  return found.flat();
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Programs lie a few folders below the manifest of their package. */
const deepest = 5;

async function versionOf(target: string): Promise<string | null> {
  let folder = dirname(target);
  for (let depth = 0; depth < deepest; depth += 1) {
    try {
      const manifest = parseJson(await readFile(join(folder, "package.json"), "utf8"), {
        maxBytes: 1_000_000,
      });
      if (isJsonObject(manifest) && typeof manifest["version"] === "string") return manifest["version"];
    } catch {
      // There is none here.
    }
    folder = dirname(folder);
  }
  return null;
}
