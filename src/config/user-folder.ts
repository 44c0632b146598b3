import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The folder of the user's own configuration. By the XDG rule, a relative path is ignored. */
export function userFolder(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: configHome, HOME: home } = env;
  if (configHome !== undefined && isAbsolute(configHome)) return join(configHome, "maestro");
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), ".config/maestro");
}
