import type { Failure } from "../../domain/failure.ts";
import { redact, withoutOrdinaryWords } from "../../domain/redact.ts";
import { changesBetween, type TreeChange } from "../../domain/tree.ts";
import type { WorkContext } from "../../personas/function.ts";
import type { Environment } from "../../personas/model/model-sources.ts";
import type { ProgramEnd, ProgramRequest } from "../../personas/model/ports.ts";
import { type PersonaPolicy, writeRule } from "../../personas/tools/tool-runner.ts";
import type { ShellDefinition } from "../../team/definition/tool-keys.ts";
import type { CommandResult } from "../../workspace/command.ts";
import type { CommandPlace } from "./command-place.ts";
import type { WorkingCopy } from "./working-copy.ts";

/** Limit on the text of each stream that the model gets: the beginning and the end. */
const shownBytes = 24 * 1024;
/** Limit on the whole output that is stored. */
const keptLength = 16 * 1024 * 1024;

/** The programs that the model of one attempt runs, on one copy of its files. */
export class Shell {
  readonly #context: WorkContext;
  readonly #place: CommandPlace;
  readonly #shell: ShellDefinition;
  readonly #env: Readonly<Record<string, string>>;
  /** Its values, masked in what the model and the record get. */
  readonly #secrets: readonly string[];
  readonly #policy: PersonaPolicy;
  #copy: WorkingCopy | undefined;

  constructor(
    context: WorkContext,
    place: CommandPlace,
    shell: ShellDefinition,
    env: Environment,
    policy: PersonaPolicy,
  ) {
    this.#context = context;
    this.#place = place;
    this.#shell = shell;
    this.#env = passedThrough(shell.env, env);
    this.#secrets = withoutOrdinaryWords(Object.values(this.#env));
    this.#policy = policy;
  }

  readonly run = async ({ argv, timeoutMs }: ProgramRequest): Promise<ProgramEnd> => {
    const { files, during, signal } = this.#context;
    const copy = (this.#copy ??= this.#place.workingCopy());
    const whole = new WholeOutput();
    const before = files.tree;
    const limitMs = Math.min(timeoutMs ?? this.#shell.timeoutMs, this.#shell.timeoutMs);
    const layers = (await this.#context.layers?.()) ?? [];
    const { result, changes, refused } = await copy.use(
      files,
      (directory) =>
        during(() =>
          this.#place.run({
            argv,
            // A model's choice: a program by another path would show it what lies beside that program.
            onlyInstalled: true,
            directory,
            env: this.#env,
            timeoutMs: limitMs,
            maxOutputBytes: shownBytes,
            signal,
            network: networkOf(this.#shell),
            layers,
            writable: "workspace",
            onOutput: (text) => whole.add(text),
          }),
        ),
      ({ kind }) => kind === "exited",
    );
    signal.throwIfAborted();
    files.reapply(changes);
    const forbidden = this.#undoForbidden(changes, before);
    const putBack = await this.#context.putBackProtected(before);
    const text = redact(whole.text, this.#secrets);
    return {
      ...(await this.#ended(result, argv, limitMs)),
      output: text === "" ? null : await this.#context.keepText(text),
      changed: changesBetween(before, files.tree).length,
      putBack: [...forbidden, ...putBack],
      refused,
      refusedHosts: result.kind === "not-started" ? [] : (result.refused ?? []),
    };
  };

  async close(): Promise<void> {
    await this.#copy?.remove();
  }

  /** Files that `policy.write` does not allow are as they were: a command may touch more than its caller knows. */
  #undoForbidden(
    changes: readonly TreeChange[],
    before: WorkContext["files"]["tree"],
  ): ProgramEnd["putBack"] {
    const mayWrite = writeRule(this.#policy);
    const paths = changes.flatMap(({ path }) => (mayWrite(path) ? [] : [path]));
    const undo = paths.map((path): TreeChange => {
      const after = before.get(path);
      return after === undefined ? { path } : { path, after };
    });
    this.#context.files.reapply(undo);
    return paths.map((path) => ({ path, why: "policy.write does not allow it" }));
  }

  async #ended(
    result: CommandResult,
    argv: readonly string[],
    limitMs: number,
  ): Promise<Pick<ProgramEnd, "end" | "code" | "stdout" | "stderr" | "failures">> {
    if (result.kind === "not-started")
      return {
        end: `could not be started: ${result.reason}`,
        code: null,
        stdout: "",
        stderr: "",
        failures: [],
      };
    const [stdout, stderr] = [redact(result.stdout, this.#secrets), redact(result.stderr, this.#secrets)];
    const printed = { stdout, stderr };
    if (result.kind !== "exited") {
      const why = result.kind === "exceeded" ? result.reason : `it did not end within ${limitMs} ms`;
      return { end: `was ended: ${why}. Its changes were not kept`, code: null, ...printed, failures: [] };
    }
    const { code } = result;
    return {
      end: `ended with exit code ${code}`,
      code,
      ...printed,
      failures: await failuresOf(argv, code, printed),
    };
  }
}

async function failuresOf(
  command: readonly string[],
  exitCode: number,
  printed: { readonly stdout: string; readonly stderr: string },
): Promise<readonly Failure[]> {
  if (exitCode === 0) return [];
  const { readOutput } = await import("../failure/read-output.ts");
  // The model has the output already, so an exit code adds nothing.
  return readOutput({ ...printed, exitCode, command }).filter(({ source }) => source !== "exit");
}

const networkOf = ({ network }: ShellDefinition) =>
  typeof network === "boolean" ? network : { reach: network };

/** Both streams in the order in which they came. */
class WholeOutput {
  readonly #parts: string[] = [];
  #length = 0;

  add(text: string): void {
    if (this.#length > keptLength) return;
    this.#length += text.length;
    this.#parts.push(this.#length > keptLength ? "\n[cut: the output is longer than 16 MiB]\n" : text);
  }

  get text(): string {
    return this.#parts.join("");
  }
}

export function passedThrough(names: readonly string[], env: Environment): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
