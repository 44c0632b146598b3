import { advise } from "../../domain/advice.ts";
import { SetupFailed } from "../../domain/errors.ts";
import { type BaseTree, type Tree, treeHash } from "../../domain/tree.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { SessionJournal } from "../../store/session-journal.ts";
import type { SetupDefinition } from "../../team/definition/setup-keys.ts";
import { type FoundSetup, inputNames, recipeOf } from "../../team/find-setup.ts";
import type { ExtraFiles } from "../../workspace/extra-files.ts";
import type { LayerPart } from "../../workspace/layers/layer.ts";
import { inputsOf, layerKey, seenFiles } from "../../workspace/layers/layer-key.ts";
import type { LayerStore } from "../../workspace/layers/layer-store.ts";
import { needsInputsOnly } from "./needs-inputs-only.ts";
import { runSetup, type SetupEnd, type SetupFiles, type SetupPlace } from "./run-setup.ts";

export type LayersFor = (tree: Tree, signal: AbortSignal) => Promise<readonly LayerPart[]>;

/** A setup of this session. */
export type SessionSetup = SetupDefinition & Partial<Pick<FoundSetup, "because" | "folder">>;

/** The dependencies of one state of the files. */
interface NamedLayer {
  readonly key: string;
  /** Off where a persona changed the inputs. */
  readonly scripts: "on" | "off";
  readonly network: SetupDefinition["network"];
  readonly files: () => SetupFiles;
}

const shownLines = 40;
const shownCharacters = 4_000;

/** The dependencies of a session's files: installed once for each state of their inputs, and found again by the key. */
export class SessionSetups {
  readonly #setups: readonly SessionSetup[];
  /** The files that the session began with. Only for their inputs do install scripts run. */
  readonly #base: BaseTree;
  readonly #journal: SessionJournal;
  readonly #layers: LayerStore;
  readonly #place: SetupPlace;
  readonly #readExtra: () => Promise<ExtraFiles>;
  /** Read once, so that all layers of a drive belong to the same secrets. */
  #extra: Promise<ExtraFiles> | undefined;
  /** Of files that a persona changed: the same inputs are not tried again in this drive. */
  readonly #failures = new Map<string, SetupFailed>();

  constructor(
    setups: readonly SessionSetup[],
    base: BaseTree,
    journal: SessionJournal,
    {
      layers,
      place,
      readExtra,
    }: {
      readonly layers: LayerStore;
      readonly place: SetupPlace;
      readonly readExtra: () => Promise<ExtraFiles>;
    },
  ) {
    this.#setups = setups;
    this.#base = base;
    this.#journal = journal;
    this.#layers = layers;
    this.#place = place;
    this.#readExtra = readExtra;
  }

  /** Runs before a model is asked. Setups of an earlier drive are recorded and skipped. */
  async prepareBase(signal: AbortSignal): Promise<void> {
    for (const setup of this.#setups) {
      const named = await this.#named(setup, this.#base.files);
      const known = named === undefined ? undefined : this.#journal.state.setups.get(named.key);
      if (named !== undefined && (known === undefined || known.outcome === "failed"))
        await this.#prepare(setup, named, signal);
    }
  }

  /** The layers that belong to these files. Throws `SetupFailed`. */
  async layersFor(tree: Tree, signal: AbortSignal): Promise<readonly LayerPart[]> {
    const parts: LayerPart[] = [];
    for (const setup of this.#setups) {
      const named = await this.#named(setup, tree);
      if (named !== undefined) parts.push(...(await this.#prepare(setup, named, signal)));
    }
    return parts;
  }

  /** Undefined when none of the inputs is among the files. */
  async #named(setup: SessionSetup, tree: Tree): Promise<NamedLayer | undefined> {
    const names = inputNames(setup);
    const inputs = inputsOf(names, tree);
    if (inputsOf(setup.inputs, inputs).size === 0) return undefined;
    const { files, hash } = this.#base;
    const scripts = treeHash(inputs) === treeHash(inputsOf(names, files)) ? "on" : "off";
    const network = reachOf(setup, scripts);
    const extra = await (this.#extra ??= this.#readExtra());
    const isAlone =
      extra.size === 0 && (await needsInputsOnly(setup.run, inputs, files, this.#place.blobs, setup.folder));
    const key = layerKey({ ...setup, network, inputs, base: isAlone ? null : hash, extra, scripts });
    return {
      key,
      scripts,
      network,
      files: () => ({ tree: isAlone ? inputs : seenFiles(names, inputs, files), extra }),
    };
  }

  async #prepare(
    setup: SessionSetup,
    { key, scripts, network, files }: NamedLayer,
    signal: AbortSignal,
  ): Promise<readonly LayerPart[]> {
    const failure = this.#failures.get(key);
    if (failure !== undefined) throw failure;
    const { state } = this.#journal;
    const terms = {
      key,
      run: setup.run,
      ...(setup.because !== undefined && { foundBy: setup.because }),
      scripts,
    };
    let ended: SetupEnd | undefined;
    const { parts, isMade } = await this.#layers
      .prepare(key, state.id, signal, async (keep) => {
        await this.#journal.append([{ kind: "setup.started", ...terms }]);
        ended = await runSetup({ ...setup, network }, files(), scripts, this.#place, signal, keep);
        if (ended.kind !== "prepared") throw new NotPrepared();
      })
      .catch(async (error: unknown) => {
        if (!(error instanceof NotPrepared) || ended?.kind !== "failed") {
          signal.throwIfAborted();
          throw error;
        }
        const why = network === setup.network ? ended.why : `${ended.why}. ${cutOff}`;
        const failed = await this.#failed(setup, terms, { ...ended, why });
        if (scripts === "off") this.#failures.set(key, failed);
        throw failed;
      });
    const known = this.#journal.state.setups.get(key);
    if (known !== undefined && known.outcome !== "failed") return parts;
    const output = ended === undefined ? undefined : await this.#store(ended.output);
    const row = {
      kind: "setup.ended",
      ...terms,
      outcome: isMade ? "prepared" : "reused",
      durationMs: ended?.durationMs ?? 0,
      ...(output !== undefined && { output }),
    } as const;
    await this.#journal.append([row], { artifacts: output === undefined ? [] : [output] });
    return parts;
  }

  async #failed(
    setup: SessionSetup,
    terms: { readonly key: string; readonly run: readonly string[]; readonly scripts: "on" | "off" },
    { why, output, durationMs, refused }: Extract<SetupEnd, { kind: "failed" }>,
  ): Promise<SetupFailed> {
    const stored = await this.#store(output);
    const row = {
      kind: "setup.ended",
      ...terms,
      outcome: "failed",
      durationMs,
      ...(stored !== undefined && { output: stored }),
    } as const;
    await this.#journal.append([row], { artifacts: stored === undefined ? [] : [stored] });
    const command = `${setup.run.join(" ")}${setup.folder === undefined ? "" : ` in ${showPath(setup.folder)}`}`;
    return new SetupFailed(`The setup ${command} ${why}`, {
      details: {
        command,
        ...(stored !== undefined && { output: stored }),
        printed: endOf(output),
        ...(refused.length > 0 && { refused }),
      },
      advice: adviceFor(setup, refused),
    });
  }

  async #store(output: string): Promise<string | undefined> {
    return output === "" ? undefined : this.#place.blobs.put(output);
  }
}

class NotPrepared extends Error {}

/**
 * Where a persona chose what is installed, a command of the team's own may run what the persona wrote: it could send the
 * files away. An install that is known to run no scripts keeps its network.
 */
const reachOf = ({ run, network, because }: SessionSetup, scripts: "on" | "off"): SessionSetup["network"] =>
  scripts === "on" || because !== undefined || recipeOf(run) !== undefined ? network : false;

const cutOff =
  "It had no network, because a persona changed its inputs and Maestro does not know how to turn off the scripts of this command.";

function adviceFor({ because }: SessionSetup, refused: readonly string[]) {
  const hosts = [...new Set(refused.map((sentence) => sentence.split(":")[0] ?? ""))].slice(0, 5).join(", ");
  return [
    ...(refused.length > 0
      ? [
          advise(
            `It asked for hosts that it may not reach (${hosts}). If it should, name them in setup.network of the team.`,
          ),
        ]
      : []),
    because === undefined
      ? advise(
          "Correct the setup of the team, the repository or the machine, then resume. A changed team needs --accept-changes.",
        )
      : advise(
          `It was found by ${because}. Correct the machine and resume, or write \`setup\` in the team: another command, or off.`,
        ),
  ];
}

/** The end, because that is where a program says why it failed. */
function endOf(output: string): string {
  const lines = output.trimEnd().split("\n");
  return lines.slice(-shownLines).join("\n").slice(-shownCharacters);
}
