import { ConfigInvalid, InputInvalid } from "../domain/errors.ts";
import { type ProvedTeam, proveModels } from "../index.ts";
import { FieldsInvalid } from "./problem.ts";
import type { ServerParts } from "./server-parts.ts";
import { usableModels } from "./views/teams.ts";

/** Rejects a model that cannot be called from here, naming the field: a session with it would only park. */
export async function proveModel(
  team: ProvedTeam,
  model: string | undefined,
  { config, teams }: Pick<ServerParts, "config" | "teams">,
  otherwise = "name another model",
): Promise<void> {
  try {
    const { simulatedScript: script, servers, providersFrom } = config;
    const folders = providersFrom === undefined ? [] : [providersFrom];
    await proveModels(team, { model, env: process.env, script, servers, folders });
  } catch (error) {
    if (!ConfigInvalid.is(error)) throw error;
    const { message, details } = error;
    const others = usableModels(teams, config.model, process.env).join(", ");
    const variable = details["variable"];
    const advice =
      typeof variable === "string"
        ? `Set ${variable} where the server runs and start it again, or ${otherwise}. Ready here: ${others}.`
        : details["model"] === undefined
          ? `Name one. Ready here: ${others}.`
          : error.advice;
    const refused = new InputInvalid(message, { details, advice });
    throw new FieldsInvalid(
      message,
      [{ field: "model", message: `${message} ${advice ?? ""}`.trim() }],
      refused,
    );
  }
}
