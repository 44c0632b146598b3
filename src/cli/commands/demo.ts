import { namedTools } from "../../api/tables.ts";
import { quote } from "../../domain/advice.ts";
import type { SessionEvent } from "../../index.ts";
import { bold, type Demo, type DemoOptions, type Played, play } from "../demo/play.ts";
import { commandFor } from "../output.ts";
import { count, duration, money, number } from "../terminal/format.ts";

/** Halfway through implementation: two of three files are recorded, the call for the third is in flight. */
const writesBeforeKill = 2;

export async function demo({ repo, ...options }: DemoOptions & { readonly repo?: true }): Promise<void> {
  if (repo === true) return (await import("../demo/repository.ts")).demoRepository(options);
  return play(greenfield(), options);
}

/** A team of five phases builds a project from nothing. */
function greenfield(): Demo {
  let writes = 0;
  return {
    name: "demo",
    brief: "A URL shortener with tests",
    opening: [
      "A team of five phases builds a URL shortener. The model is simulated: it plays a script, offline, and costs nothing.",
      "Everything else is real: the files, the tests that check them, the journal, the kill.",
    ].join("\n"),
    killedAt: "halfway through implementation",
    isTheMoment: (event: SessionEvent): boolean => {
      if (event.kind !== "step" || event.persona !== "backend_developer" || event.name !== namedTools.write)
        return false;
      writes += 1;
      return writes === writesBeforeKill;
    },
    runFlags: () => [],
    resumeFlags: ({ project }) => ["--out", project],
    document: countsOf,
    summary,
  };
}

function countsOf({ before, after, checkpoints }: Played) {
  const { usage } = after;
  const attempts = after.phases.flatMap(({ personas }) => personas.flatMap((persona) => persona.attempts));
  return {
    status: after.status,
    simulated: after.simulated,
    kept: before.steps,
    steps: after.steps,
    /** Paid before the kill and not again after it. */
    notPaidTwice: {
      calls: before.usage.calls,
      tokens: before.usage.inputTokens + before.usage.outputTokens,
      usd: before.usage.costUsd,
    },
    calls: usage.calls,
    tokens: usage.inputTokens + usage.outputTokens,
    costUsd: usage.costUsd,
    lostInTheCrash: usage.estimatedTokens,
    retried: attempts.filter(({ status }) => status === "failed").length,
    healed: attempts.flatMap(({ healing }) => healing.filter(({ outcome }) => outcome === "passed")).length,
    checkpoints: checkpoints.filter(({ valid }) => valid).length,
    files: after.artifacts.length,
  };
}

function* summary(played: Played): Generator<string> {
  const { after, project, stateDir, key, tookMs } = played;
  const counts = countsOf(played);
  const { notPaidTwice } = counts;
  const replayed = after.usage.saved.resume.tokens;
  yield "";
  yield bold(`Done in ${duration(tookMs)}. Killed halfway, and no recorded step was lost or paid twice.`);
  yield `  kept         all ${counts.kept} steps recorded before the kill; none ran again`;
  yield `  not twice    ${number(notPaidTwice.tokens)} tokens, ${money(notPaidTwice.usd)}: the ${count(notPaidTwice.calls, "model call")} before the kill; ${number(replayed)} of them were read from the journal to resume; show and usage call them "not paid again"`;
  yield `  paid         ${number(counts.tokens)} tokens in ${count(counts.calls, "call")}, ${money(counts.costUsd)} at invented prices (the model is simulated)`;
  if (counts.lostInTheCrash > 0)
    yield `  in flight    the one call under way was asked again; its answer is all that a kill can lose (budgets count it as paid, to be safe)`;
  yield `  mended       ${count(counts.retried, "network fault")} retried, ${count(counts.healed, "failure")} healed without asking the model again`;
  yield `  checkpoints  ${counts.checkpoints} sealed and valid: of the start and of ${count(after.phases.length, "phase")}`;
  yield `  project      ${count(counts.files, "file")} in ${project}, checked by its own tests`;
  yield "";
  yield "Try next:";
  yield `  ${commandFor(stateDir, "show", key)}`;
  yield `  ${commandFor(stateDir, "usage", "--session", key)}`;
  yield `  (cd ${quote(project)} && node --test)`;
}
