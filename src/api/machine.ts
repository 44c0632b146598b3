import { dirname, isAbsolute } from "node:path";
import type { Advice } from "../domain/advice.ts";
import { ConfigInvalid } from "../domain/errors.ts";
import type { LanguageModelObject } from "../personas/model/model-object.ts";
import type { ModelSources } from "../personas/model/model-sources.ts";
import { knownProviders, providers, readVariable } from "../personas/model/provider-table.ts";
import { refuseUnconfined } from "../run/programs/refuse-unconfined.ts";
import type { Team } from "../team/define.ts";
import { modelObjects } from "../team/model-objects.ts";
import type { KeptClone } from "../workspace/repository/kept-clones.ts";
import type { NoSandbox, Sandbox, SandboxRule } from "../workspace/sandbox-kind.ts";

export { isTool, tools } from "../personas/tools/tool-table.ts";
export type { Sandbox, SandboxRule } from "../workspace/sandbox-kind.ts";

/** How a provider is reached from here. Says whether there is a key, never the key itself. */
export interface ProviderStatus {
  readonly name: string;
  readonly keyVariable: string;
  readonly keySet: boolean;
  readonly keyRequired: boolean;
  readonly baseUrlVariable: string;
  readonly baseUrl: string | null;
  /** A model of the provider, as teams write it. */
  readonly example: string;
}

/** The sandbox of commands on this machine, found by trying it. */
export async function describeSandbox(): Promise<Sandbox> {
  return (await import("../workspace/sandbox.ts")).describeSandbox();
}

/** Installed dependencies in a state directory. */
export async function describeLayers(
  stateDirectory: string,
): Promise<readonly { readonly usedAt: number; readonly bytes: number }[]> {
  const { LayerStore } = await import("../workspace/layers/layer-store.ts");
  return new LayerStore(stateDirectory).measure();
}

/** The clones of repositories in a state directory, and their size. */
export async function describeClones(stateDirectory: string): Promise<readonly KeptClone[]> {
  return (await import("../workspace/repository/kept-clones.ts")).listClones(stateDirectory);
}

/** Whether the kernel bounds a command's memory as a whole. Otherwise only our own watch does. */
export async function hasControlGroups(): Promise<boolean> {
  return (await import("../workspace/control-group.ts")).ControlGroup.isPossible();
}

export async function describeProviders(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly ProviderStatus[]> {
  return knownProviders.map((name) => {
    const { keyVariable, keyRequired, baseUrlVariable, defaultBaseUrl, example } = providers[name];
    const keySet = readVariable(env, keyVariable) !== undefined;
    const baseUrl = readVariable(env, baseUrlVariable) ?? defaultBaseUrl ?? null;
    return { name, keyVariable, keySet, keyRequired, baseUrlVariable, baseUrl, example };
  });
}

export interface ProveOptions extends ModelSources {
  /** Replaces the team's model. */
  readonly model?: string | undefined;
  readonly script?: string | undefined;
}

/** Includes the code of a team that has model objects. */
export type ProvedTeam = Pick<Team, "definition"> & Partial<Pick<Team, "phases" | "model">>;

/** An unavailable model is an error before anything starts, instead of a parked session. */
export async function proveModels(
  team: ProvedTeam,
  { model, ...sources }: ProveOptions,
): Promise<readonly string[]> {
  const { definition } = team;
  const objects: Record<string, LanguageModelObject> = {};
  const asked: (string | undefined)[] = [];
  for (const { name: phase, personas } of definition.phases)
    for (const { name, work } of personas) {
      if (work.kind !== "model") continue;
      asked.push(work.model ?? model ?? definition.model ?? undefined);
      Object.assign(objects, modelObjects(team, phase, name));
    }
  if (asked.length === 0) return [];
  const { resolveModel } = await import("../personas/model/resolve-model.ts");
  const names = new Set<string>();
  for (const name of new Set(asked)) names.add((await resolveModel(name, { ...sources, objects })).name);
  return [...names];
}

/** Commands that cannot be confined here are an error before anything starts. */
export async function proveSandbox(
  { definition }: Pick<Team, "definition">,
  rule: SandboxRule,
): Promise<void> {
  await refuseUnconfined(definition.phases, rule);
}

/** How to get a sandbox on this system. */
export async function adviseSandbox(found: NoSandbox): Promise<readonly Advice[]> {
  return (await import("../workspace/unconfined.ts")).sandboxAdvice(found);
}

/**
 * A missing program is an error before anything starts. Programs in the workspace may be created by an earlier
 * phase.
 */
export async function proveCommands({ definition }: Pick<Team, "definition">): Promise<void> {
  const { findInstall } = await import("../workspace/find-install.ts");
  const { searchPath } = await import("../workspace/find-program.ts");
  const folders = [dirname(process.execPath), ...searchPath()];
  for (const { name, work } of definition.phases.flatMap(({ personas }) => personas)) {
    const program = work.kind === "command" ? (work.argv[0] ?? "") : "";
    if (program === "" || (program.includes("/") && !isAbsolute(program))) continue;
    if ((await findInstall(program, folders)) !== undefined) continue;
    throw new ConfigInvalid(`Persona ${name} runs ${program}, which is not installed.`, {
      details: { persona: name, program },
      advice: `Install ${program}, or correct the persona's command.`,
    });
  }
}
