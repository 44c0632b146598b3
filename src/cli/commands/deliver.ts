import { resolve } from "node:path";
import { branchLines, requestText } from "../delivery-lines.ts";
import { exitCodes } from "../exit-code.ts";
import { type GlobalOptions, withMaestro, withReadonly } from "../open.ts";
import { printJson, say, sayCommand, sayLines } from "../output.ts";
import { readCount } from "../read-flags.ts";
import { count, plain } from "../terminal/format.ts";

interface DiffFlags extends GlobalOptions {
  readonly phase?: string;
  readonly persona?: string;
  readonly attempt?: string;
  readonly stat?: boolean;
  readonly against?: string;
}

export async function diff(session: string, { attempt, ...options }: DiffFlags): Promise<void> {
  const { phase, persona, stat, against } = options;
  const text = await withReadonly(options, (maestro) =>
    maestro.diff(session, {
      ...(phase !== undefined && { phase }),
      ...(persona !== undefined && { persona }),
      ...(attempt !== undefined && { attempt: readCount("--attempt", attempt) }),
      ...(stat === true && { stat }),
      ...(against !== undefined && { against }),
    }),
  );
  if (options.json) return printJson({ diff: text.toString() });
  if (text.length === 0) return say("Nothing changed.");
  // Unchanged bytes: the diff is for git, and git quotes the names in it.
  process.stdout.write(text);
}

interface BranchFlags extends GlobalOptions {
  readonly repo?: string;
  readonly push?: string;
  readonly pullRequest?: boolean;
}

export async function branch(session: string, name: string, options: BranchFlags): Promise<void> {
  const { repo, push, pullRequest } = options;
  const { made, folder } = await withMaestro(options, async (maestro) => ({
    made: await maestro.branch(session, {
      branch: name,
      ...(repo !== undefined && { repo }),
      ...(push !== undefined && { push }),
      ...(pullRequest === true && { pullRequest }),
    }),
    folder: repo === undefined ? await maestro.repositoryFolder(session) : resolve(repo),
  }));
  if (options.json) return printJson(made);
  sayLines(branchLines(made, folder));
  if (made.pullRequest !== null) say(plain(requestText(made.pullRequest)));
}

interface ApplyFlags extends GlobalOptions {
  readonly to?: string;
  readonly force?: boolean;
}

export async function apply(session: string, options: ApplyFlags): Promise<void> {
  const { to, force = false } = options;
  const { applied, folder } = await withReadonly(options, async (maestro) => ({
    applied: await maestro.apply(session, { force, ...(to !== undefined && { to }) }),
    folder: to === undefined ? await maestro.repositoryFolder(session) : resolve(to),
  }));
  const { written, removed, conflicts } = applied;
  if (conflicts.length > 0) process.exitCode = exitCodes.failed;
  if (options.json) return printJson(applied);
  for (const { reason } of conflicts) say(plain(`Conflict: ${reason}`));
  if (conflicts.length > 0 && !force)
    return sayCommand(
      "Nothing was written. To write the rest, and conflicts with markers",
      options.stateDir,
      "apply",
      session,
      ...(to === undefined ? [] : ["--to", to]),
      "--force",
    );
  const gone = removed.length === 0 ? "" : `, ${count(removed.length, "file")} removed`;
  say(plain(`${count(written.length, "file")} written in ${folder ?? "the repository"}${gone}.`));
}
