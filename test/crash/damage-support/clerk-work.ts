import { appendFileSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { defineTeam, MaestroError, open, persona, phase } from "../support/package.ts";

/** How the disk fills: by the clerk's rows, by its artifacts, or by a file of another program at the end. */
export type Filling = "rows" | "artifacts" | "stranger" | "nothing";

export interface ClerkOptions {
  readonly stateDir: string;
  readonly steps: number;
  readonly filling: Filling;
  /** Outside the state directory: a line for each effect, and a line for each acknowledged result. */
  readonly effects: string;
  readonly acknowledged: string;
  /** Also acknowledge the session, once it exists. */
  readonly tellsSession?: boolean | undefined;
  /** Its first step lasts until the writer thread has taken over from the caller's thread. */
  readonly waitsForWriter?: boolean | undefined;
}

export type ClerkEnd =
  | { readonly status: string; readonly results: number }
  | { readonly error: string; readonly message: string; readonly advice: string | undefined };

const sizes: Readonly<Record<Filling, number>> = {
  rows: 20_000,
  artifacts: 400_000,
  stranger: 100,
  nothing: 100,
};

function clerkTeam({ stateDir, steps, filling, effects, acknowledged, waitsForWriter }: ClerkOptions) {
  return defineTeam("clerk", {
    phases: ["first", "last"].map((name) =>
      phase(name, {
        personas: [
          persona("clerk", {
            run: async ({ step }) => {
              const pages: string[] = [];
              for (let page = 1; page <= steps; page += 1) {
                const label = `${name} ${page}`;
                const result = await step(label, async () => {
                  if (waitsForWriter) await writerStands(stateDir);
                  if (filling === "stranger" && page === steps) fill(join(stateDir, "stranger"));
                  appendFileSync(effects, `${label}\n`);
                  return { label, text: "x".repeat(sizes[filling]) };
                });
                appendFileSync(acknowledged, `${result.label}\n`);
                pages.push(result.label);
              }
              return { summary: `${pages.length} pages`, outputs: { pages } };
            },
          }),
        ],
      }),
    ),
  });
}

/** First the thread extends the log to its full length, unless other processes write all the time. */
async function writerStands(stateDir: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (statSync(join(stateDir, "maestro.db-wal")).size < 4_000_000 && performance.now() < deadline)
    await pass(5);
}

/** Fills the disk. */
function fill(path: string): void {
  const { bavail, bsize } = statfsSync(join(path, ".."));
  writeFileSync(path, Buffer.alloc(bavail * bsize), { flag: "a" });
}

/** One drive of the clerk's session to its end. */
export async function work(options: ClerkOptions): Promise<ClerkEnd> {
  const maestro = await open({ stateDir: options.stateDir });
  try {
    const session = await maestro.start(clerkTeam(options), { brief: "Write pages.", key: "pages" });
    if (options.tellsSession) appendFileSync(options.acknowledged, `session ${session.id}\n`);
    const { status, results } = await session.result();
    return { status, results: Object.values(results).flatMap(Object.values).length };
  } finally {
    await maestro.close();
  }
}

export function explain(error: unknown): ClerkEnd {
  if (!MaestroError.is(error))
    return { error: "not Maestro's", message: String((error as Error).stack), advice: undefined };
  return { error: error.name, message: error.message, advice: error.advice };
}
