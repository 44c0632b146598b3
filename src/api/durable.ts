import { advise } from "../domain/advice.ts";
import { fromErrorJson } from "../domain/error-json.ts";
import { SessionFailed } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { PersonaContext } from "../personas/function.ts";
import { defineTeam, persona, phase } from "../team/define.ts";
import { type OpenOptions, open } from "./open.ts";
import type { StartOptions } from "./options.ts";

export interface DurableOptions extends Pick<StartOptions, "budget"> {
  /** The purpose of the work, as `maestro show` prints it. Default: the key. */
  readonly brief?: string;
  /** Options of `open`. */
  readonly open?: Omit<OpenOptions, "teams" | "recover">;
}

const name = "durable";

/**
 * Runs a function as its own session with one persona. After a crash the same key resumes it, and recorded work is
 * neither repeated nor paid again. An error that the function throws fails the attempt; the next attempt starts
 * over. After the function has returned, every later call with the key returns the recorded value, which must be
 * JSON.
 */
export async function durable<T>(
  key: string,
  work: (context: PersonaContext) => T | Promise<T>,
  { brief = key, budget, open: settings = {} }: DurableOptions = {},
): Promise<T> {
  const team = defineTeam(name, {
    phases: [
      phase("work", {
        personas: [
          persona("work", {
            run: async (context) => {
              const value = await work(context);
              return {
                summary: `${key} is done`,
                ...(value !== undefined && { outputs: { value: value as Json } }),
              };
            },
          }),
        ],
      }),
    ],
  });
  const maestro = await open({ ...settings, teams: [team] });
  try {
    const session = await maestro.start(team, { brief, key, ...(budget !== undefined && { budget }) });
    const { status, reason, error, results } = await session.result();
    if (status === "completed") return results["work"]?.["work"]?.outputs["value"] as T;
    const why = error === undefined ? "" : `: ${error.message}`;
    throw new SessionFailed(`${key} is ${status}${reason === undefined ? "" : ` (${reason})`}${why}`, {
      details: { session: session.id, status },
      ...(error !== undefined && { cause: fromErrorJson(error) }),
      advice: [advise("See why", "show", key), advise("Then run the program again: it resumes.")],
    });
  } finally {
    await maestro.close();
  }
}
