import { advise } from "../domain/advice.ts";
import { fromErrorJson } from "../domain/error-json.ts";
import { SessionFailed } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { PersonaContext } from "../personas/function.ts";
import { defineTeam, persona, phase } from "../team/define.ts";
import { type OpenOptions, open } from "./open.ts";
import type { StartOptions } from "./options.ts";

export interface DurableOptions extends Pick<StartOptions, "budget"> {
  /** What the work is for, as `maestro show` says it. Default: the key. */
  readonly brief?: string;
  /** As for `open`. */
  readonly open?: Omit<OpenOptions, "teams" | "recover">;
}

const name = "durable";

/**
 * Runs a function as a session of its own, with one persona. After a crash the same key resumes it: what the context
 * recorded is not done or paid again. An error that it throws fails the attempt, and the next one begins anew. Once it has returned, every later call with the key gives the recorded value, which
 * must be JSON.
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
