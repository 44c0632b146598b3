import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Looking } from "../../api/open-readonly.ts";
import { type Advice, adviceText, advise } from "../../domain/advice.ts";
import { MaestroError } from "../../domain/errors.ts";
import { exitCodes } from "../exit-code.ts";
import { howStarted } from "../how-started.ts";
import { type GlobalOptions, loadFromFlags, withLook } from "../open.ts";
import { adviceLines, folded, print, printJson } from "../output.ts";
import { painter } from "../terminal/color.ts";
import { bytes, count, plain } from "../terminal/format.ts";
import { screenOf } from "../terminal/screen.ts";

interface Finding {
  readonly what: string;
  readonly state: "ok" | "warning" | "wrong";
  readonly found: string;
  readonly fix?: readonly Advice[];
  /** The highest exit code of all findings is the command's. */
  readonly exitCode?: number;
}

interface DoctorOptions extends GlobalOptions {
  readonly offline?: boolean;
}

const oldestNode = 24;
const littleSpace = 1024 ** 3;
const tooLittleSpace = 64 * 1024 ** 2;
const reachMs = 5_000;
const mostSessions = 200;
const configurationName = "configuration";

export async function doctor(options: DoctorOptions): Promise<void> {
  const findings = [node(), ...(await configuration(options))];
  // Without a configuration the state directory is unknown.
  if (!findings.some(({ what, state: found }) => what === configurationName && found === "wrong"))
    findings.push(...(await state(options)));
  findings.push(await sandbox(), ...(await providers(options.offline === true)));
  const exitCode = Math.max(0, ...findings.map((finding) => finding.exitCode ?? 0));
  process.exitCode = exitCode;
  const { stateDir } = options;
  if (!options.json) return show(findings, stateDir);
  const place = { start: howStarted(), stateDir };
  printJson({
    ok: exitCode === 0,
    findings: findings.map(({ fix, ...finding }) => ({
      ...finding,
      ...(fix !== undefined && { fix: adviceText(fix, place) }),
    })),
  });
}

function node(): Finding {
  const { node: version } = process.versions;
  if (Number(version.split(".")[0]) >= oldestNode) return { what: "Node.js", state: "ok", found: version };
  return {
    what: "Node.js",
    state: "wrong",
    found: version,
    fix: [advise(`Install ${oldestNode} or newer.`)],
    exitCode: exitCodes.usage,
  };
}

async function configuration(options: GlobalOptions): Promise<Finding[]> {
  const what = configurationName;
  try {
    const { file, warnings } = await loadFromFlags(options);
    const warned = warnings.map((found): Finding => ({ what, state: "warning", found }));
    return [{ what, state: "ok", found: file ?? "no file; environment and defaults" }, ...warned];
  } catch (error) {
    return [wrong(what, error)];
  }
}

/** Opening checks the directory and the format of the database. */
async function state(options: GlobalOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const onNotice = (found: string): void => {
    findings.push({ what: "state", state: "warning", found });
  };
  try {
    await withLook(
      options,
      async (maestro) => {
        const { stateDirectory: found, unwritable, isMissing } = maestro;
        if (isMissing) return void findings.push(...(await notYet(found)));
        findings.push(
          unwritable === undefined
            ? { what: "state directory", state: "ok", found }
            : wrong("state directory", unwritable),
        );
        await maestro.announceLost();
        findings.push(await space(maestro.stateDirectory), ...(await database(maestro)));
      },
      { onNotice, mayBeMissing: true },
    );
  } catch (error) {
    findings.push(wrong("state directory", error));
  }
  return findings;
}

/** The first run creates it, unless its parent cannot be written. */
async function notYet(directory: string): Promise<Finding[]> {
  const what = "state directory";
  let parent = dirname(directory);
  while ((await stat(parent).catch(() => undefined)) === undefined && parent !== dirname(parent))
    parent = dirname(parent);
  const isWritable = await access(parent, constants.W_OK).then(
    () => true,
    () => false,
  );
  const found = `${directory} does not exist yet; the first run creates it`;
  if (isWritable)
    return [
      { what, state: "ok", found },
      await space(parent),
      { what: "database", state: "ok", found: "none yet" },
    ];
  return [
    {
      what,
      state: "warning",
      found: `${directory} does not exist, and ${parent} cannot be written`,
      fix: [advise("Without --state-dir, runs use a directory in your home instead.")],
    },
  ];
}

async function space(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const found = `${bytes(free)} free`;
  if (free > littleSpace) return { what: "disk space", state: "ok", found };
  return {
    what: "disk space",
    state: free > tooLittleSpace ? "warning" : "wrong",
    found,
    fix: [
      advise("Remove old sessions", "prune", "--older-than", "7"),
      advise("Or choose another disk with --state-dir."),
    ],
    ...(free <= tooLittleSpace && { exitCode: exitCodes.failed }),
  };
}

/**
 * Runs the database's own check. Then verifies the newest sessions: each row by its hash chain, each checkpoint by its seal,
 * each file by its hash.
 */
async function database(maestro: Looking): Promise<Finding[]> {
  const damage = await maestro.findDamage();
  if (damage.length > 0) {
    return [
      {
        what: "database",
        state: "wrong",
        found: `it is damaged: ${damage.join("; ")}`,
        fix: [
          advise(
            "Move maestro.db aside, with its -wal and -shm; resume then restores the sessions from their newest checkpoints.",
          ),
        ],
        exitCode: exitCodes.damaged,
      },
    ];
  }
  const sessions = await maestro.sessions({ limit: mostSessions });
  const findings: Finding[] = [];
  const proved = new Set<string>();
  let rows = 0;
  for (const { id } of sessions) {
    try {
      for await (const _ of maestro.events(id, { follow: false })) rows += 1;
      for (const { sha256 } of (await maestro.show(id)).artifacts) {
        if (proved.has(sha256)) continue;
        await maestro.artifact(id, sha256);
        proved.add(sha256);
      }
      const bad = (await maestro.checkpoints(id)).filter(({ valid }) => !valid);
      if (bad.length > 0)
        findings.push({
          what: "checkpoints",
          state: "wrong",
          found: `session ${id}: ${bad.map(({ file, problem }) => `${file}: ${problem}`).join("; ")}`,
          fix: [advise("The journal restores them", "resume", id)],
          exitCode: exitCodes.damaged,
        });
    } catch (error) {
      findings.push(wrong(`session ${id}`, error));
    }
  }
  const { byStatus } = await maestro.count();
  const all = Object.values(byStatus).reduce((sum, some) => sum + some, 0);
  const which =
    all > sessions.length
      ? `the newest ${sessions.length} of ${count(all, "session")}`
      : count(all, "session");
  const found = `${count(rows, "row")} and ${count(proved.size, "file")} of ${which} verified`;
  return findings.length > 0 ? findings : [{ what: "database", state: "ok", found }];
}

async function sandbox(): Promise<Finding> {
  const { describeSandbox } = await import("../../index.ts");
  const found = await describeSandbox();
  if (found.kind === "bubblewrap")
    return { what: "sandbox", state: "ok", found: `bubblewrap ${found.version}, as ${found.identity}` };
  return {
    what: "sandbox",
    state: "warning",
    found: `none: ${found.reason} Checks run as your own user, on all your files.`,
    fix: [advise("On Linux, install the package bubblewrap and allow user namespaces.")],
  };
}

async function providers(offline: boolean): Promise<Finding[]> {
  const { describeProviders } = await import("../../index.ts");
  const known = await describeProviders(process.env);
  const ready = known.filter(
    ({ keySet, keyRequired, baseUrl }) => keySet || (!keyRequired && baseUrl !== null),
  );
  if (ready.length === 0)
    return [
      {
        what: "model keys",
        state: "warning",
        found: "none is set",
        fix: [
          advise(`Set one of ${known.map(({ keyVariable }) => keyVariable).join(", ")}.`),
          advise("Without a key, run with --model simulated, or watch a demonstration", "demo"),
        ],
      },
    ];
  return Promise.all(
    ready.map(async ({ name, keyVariable, keySet, baseUrl, baseUrlVariable }): Promise<Finding> => {
      const key = keySet ? `${keyVariable} is set` : "no key";
      if (offline) return { what: name, state: "ok", found: `${key}; not tried` };
      const problem = await reach(baseUrl ?? "");
      if (problem === undefined)
        return { what: name, state: "ok", found: `${key}; ${hostOf(baseUrl)} answers` };
      return {
        what: name,
        state: "warning",
        found: `${key}; ${hostOf(baseUrl)} does not answer: ${problem}`,
        fix: [advise(`Check the network and proxy, or ${baseUrlVariable}.`)],
      };
    }),
  );
}

/** Any response counts. Checking the key would cost a model call. */
async function reach(url: string): Promise<string | undefined> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(reachMs) });
    return undefined;
  } catch (error) {
    const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException };
    return cause?.code ?? (name === "TimeoutError" ? `nothing within ${reachMs / 1_000} s` : name);
  }
}

/** Only the host: the address can contain a password. */
const hostOf = (url: string | null): string => URL.parse(url ?? "")?.host ?? "its address";

function wrong(what: string, error: unknown): Finding {
  if (!MaestroError.is(error)) throw error;
  const { message, actions, exitCode } = error;
  return { what, state: "wrong", found: message, exitCode, ...(actions.length > 0 && { fix: actions }) };
}

function show(findings: readonly Finding[], stateDir: string | undefined): void {
  const { columns, color } = screenOf(process.stdout);
  const paint = painter(color);
  const marks = { ok: paint("green", "✔"), warning: paint("yellow", "!"), wrong: paint("red", "✘") };
  const fit = (text: string) => folded(plain(text), columns - 4);
  const fixLines = (advice: Advice) =>
    adviceLines({ ...advice, text: `→ ${advice.text}` }, stateDir).flatMap(({ text, isCommand }) =>
      isCommand ? [text] : fit(text),
    );
  for (const { what, state, found, fix = [] } of findings) {
    const [first = "", ...others] = fit(`${what}: ${found}`);
    print(`${marks[state]} ${first}`);
    for (const line of [...others, ...fix.flatMap(fixLines)]) print(`    ${line}`);
  }
  const bad = findings.filter(({ state }) => state === "wrong").length;
  print(bad === 0 ? "Ready." : `${count(bad, "thing")} to fix first.`);
}
