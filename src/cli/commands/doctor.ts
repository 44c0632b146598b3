import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { ReadonlyMaestro } from "../../api/open-readonly.ts";
import { type Advice, adviceText, advise } from "../../domain/advice.ts";
import { exitCodes } from "../exit-code.ts";
import { type Finding, wrong } from "../finding.ts";
import { howStarted } from "../how-started.ts";
import { type GlobalOptions, loadForReading, withReadonly } from "../open.ts";
import { adviceLines, folded, print, printJson } from "../output.ts";
import { painter } from "../terminal/color.ts";
import { bytes, count, plain } from "../terminal/format.ts";
import { screenOf } from "../terminal/screen.ts";
import { verifyState } from "../verify-state.ts";

interface DoctorOptions extends GlobalOptions {
  readonly offline?: boolean;
}

const oldestNode = 24;
const littleSpace = 1024 ** 3;
const tooLittleSpace = 64 * 1024 ** 2;
const reachMs = 5_000;
const keptUploadMs = 86_400_000;
const configurationName = "configuration";

export async function doctor(options: DoctorOptions): Promise<void> {
  const findings = [node(), ...(await configuration(options))];
  // Without a configuration the state directory is unknown.
  if (!findings.some(({ what, state: found }) => what === configurationName && found === "wrong"))
    findings.push(...(await state(options)));
  findings.push(await sandbox(options), ...(await providers(options.offline === true)), ...(await agents()));
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
    const { files, leftOut } = await loadForReading(options);
    if (leftOut !== undefined) return [{ what, state: "warning", found: leftOut }];
    return [{ what, state: "ok", found: files.join(", ") || "no file; environment and defaults" }];
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
    await withReadonly(
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
        findings.push(
          await space(maestro.stateDirectory),
          ...(await updatedPrices(options)),
          ...(await repositories(maestro.stateDirectory)),
          ...(await uploads(maestro)),
          ...(await dependencies(maestro.stateDirectory)),
          ...(await verifyState(maestro)),
        );
      },
      // The finding about the configuration already names the ignored settings.
      { onNotice, mayBeMissing: true, loaded: { ...(await loadForReading(options)), leftOut: undefined } },
    );
  } catch (error) {
    findings.push(wrong("state directory", error));
  }
  return findings;
}

/** Prices from `maestro prices update`. */
async function updatedPrices(options: GlobalOptions): Promise<Finding[]> {
  const what = "prices";
  try {
    const { listPrices } = await import("../../api/prices.ts");
    const { sources } = await listPrices(await loadForReading(options));
    const found = sources.map(({ version }) => version).join(", then ");
    return [{ what, state: "ok", found }];
  } catch (error) {
    return [wrong(what, error)];
  }
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

async function dependencies(directory: string): Promise<Finding[]> {
  const { describeLayers } = await import("../../index.ts");
  const layers = await describeLayers(directory);
  if (layers.length === 0) return [];
  const size = bytes(layers.reduce((sum, layer) => sum + layer.bytes, 0));
  return [{ what: "dependencies", state: "ok", found: `${count(layers.length, "installed set")}, ${size}` }];
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

/** Clones of repositories that sessions were started on by address. */
async function repositories(directory: string): Promise<Finding[]> {
  const { describeClones } = await import("../../index.ts");
  const clones = await describeClones(directory);
  if (clones.length === 0) return [];
  const size = bytes(clones.reduce((sum, clone) => sum + clone.bytes, 0));
  const names = [...new Set(clones.map(({ git }) => git))].slice(0, 5).join(", ");
  return [
    { what: "repositories", state: "ok", found: `${count(clones.length, "clone")}, ${size}: ${names}` },
  ];
}

/** Printed only if uploads exist, because most people have none. */
async function uploads(maestro: ReadonlyMaestro): Promise<Finding[]> {
  const what = "uploads";
  const found = await maestro.uploads();
  const old = found.filter(({ receivedAt }) => receivedAt < Date.now() - keptUploadMs);
  if (old.length > 0)
    return [
      {
        what,
        state: "warning",
        found: `${count(old.length, "upload")} older than a day, ${bytes(old.reduce((sum, each) => sum + each.bytes, 0))}`,
        fix: [advise("Remove them", "prune")],
      },
    ];
  return found.length === 0
    ? []
    : [{ what, state: "ok", found: `${found.length} that sessions can begin with` }];
}

async function sandbox(options: GlobalOptions): Promise<Finding> {
  const what = "sandbox";
  // A wrong configuration has its own finding.
  const rule = await loadForReading(options).then(
    ({ config }) => config.sandbox,
    () => "required",
  );
  const { adviseSandbox, describeSandbox, hasControlGroups } = await import("../../index.ts");
  const found = await describeSandbox();
  if (rule === "none")
    return {
      what,
      state: "warning",
      found: "turned off (sandbox: none); checks and agents run as your user, on all your files",
      fix: found.kind === "none" ? await adviseSandbox(found) : [advise("Remove the setting sandbox.")],
    };
  if (found.kind === "bubblewrap") {
    const bound = (await hasControlGroups()) ? "by the kernel (cgroup)" : "by a watch over its processes";
    const version = `bubblewrap ${found.version}, as ${found.identity}`;
    return { what, state: "ok", found: `${version}; memory of a command is limited ${bound}` };
  }
  return {
    what,
    state: "warning",
    found: `none: ${found.reason} Teams with checks or agents on the command line are refused.`,
    fix: await adviseSandbox(found),
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
        return { what: name, state: "ok", found: `${key}, not tried; ${hostOf(baseUrl)} answers` };
      return {
        what: name,
        state: "warning",
        found: `${key}; ${hostOf(baseUrl)} does not answer: ${problem}`,
        fix: [advise(`Check the network and proxy, or ${baseUrlVariable}.`)],
      };
    }),
  );
}

/** Those that a persona can name as its `agent`. */
async function agents(): Promise<Finding[]> {
  const { describeAgents } = await import("../../index.ts");
  const found = await describeAgents(process.env);
  return found.map(({ name, path, version, variables, login }): Finding => {
    const program = `${version ?? "of unknown version"}, ${path}`;
    const ways = [...variables.map((variable) => `${variable} is set`), ...(login === null ? [] : [login])];
    const what = `agent ${name}`;
    if (ways.length > 0) return { what, state: "ok", found: `${program}; ${ways.join(", ")}; not tried` };
    return {
      what,
      state: "warning",
      found: `${program}; no key and no login`,
      fix: [
        advise(`Set its key, or log in with ${name}. docs/agents.md has what a persona needs for either.`),
      ],
    };
  });
}

/** Any response counts. Testing the key would cost a model call. */
async function reach(url: string): Promise<string | undefined> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(reachMs) });
    return undefined;
  } catch (error) {
    const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException };
    return cause?.code ?? (name === "TimeoutError" ? `nothing within ${reachMs / 1_000} s` : name);
  }
}

/** Print only the host, because the address can contain a password. */
const hostOf = (url: string | null): string => URL.parse(url ?? "")?.host ?? "its address";

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
  print(bad === 0 ? "Ready. Keys were not tried." : `${count(bad, "thing")} to fix first.`);
}
