import { type Contract, emptyContract } from "../../../src/domain/contract.ts";
import { type ModelPersonaPorts, runModelPersona } from "../../../src/personas/model/model-persona.ts";
import type { PersonaWork } from "../../../src/personas/model/prompt.ts";
import { resolveModel } from "../../../src/personas/model/resolve-model.ts";
import type { SimulatedScript, SimulatedTurn } from "../../../src/personas/model/simulated/script.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";

export const someWork = (more: Partial<PersonaWork> = {}): PersonaWork => ({
  persona: "analyst",
  phase: "requirements",
  attempt: 1,
  instructions: "Turn the brief into testable requirements.",
  brief: "A parking app for one city",
  contract: emptyContract,
  earlier: [],
  failures: [],
  notes: [],
  effects: [],
  putBack: [],
  ...more,
});

export const delivering = (...files: string[]): Contract => ({
  deliverables: [{ name: "result", files, must: true, weight: 1 }],
  checks: [],
});

/** Longer files are edited; the real rule is the workspace's. */
export const adviseEdit = (before: string, after: string): string | undefined =>
  before.length > 500 && after.startsWith(before.slice(0, 100)) && after.length < before.length * 1.5
    ? "Edit those lines."
    : undefined;

/** A persona with a simulated model, files and steps in memory. */
export async function place(
  script: SimulatedScript | readonly SimulatedTurn[] | undefined,
  more: Partial<ModelPersonaPorts> & { readonly work?: Partial<PersonaWork> } = {},
) {
  const { work, ...ports } = more;
  const given = Array.isArray(script)
    ? { personas: { analyst: [script as readonly SimulatedTurn[]] } }
    : script;
  const { model } = await resolveModel("simulated", {
    env: {},
    script: given as SimulatedScript | undefined,
  });
  const steps = new RecordingSteps();
  const files = (ports.files as MemoryFiles | undefined) ?? new MemoryFiles();
  const run = () =>
    runModelPersona(someWork(work), {
      model,
      runStep: steps.runStep,
      files,
      adviseEdit,
      signal: new AbortController().signal,
      runCheck: async (name) => ({
        kind: "command",
        name,
        status: "passed",
        must: true,
        weight: 1,
        message: "ended with 0",
        failures: [],
      }),
      ...ports,
    });
  return { run, steps, files, model };
}

export const call = (tool: string, input: Record<string, never> | object): SimulatedTurn => ({
  calls: [{ tool, input: input as Record<string, string> }],
});

export const submit = (more: object = {}): SimulatedTurn => call("submit", { summary: "done", ...more });
