import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { defineTeam, type OpenOptions, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import type { McpDefinition } from "../../../src/team/definition/mcp-keys.ts";
import { readRecorded } from "../../crash/support/recorded.ts";
import { TeamPlace } from "../run/place.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const submit = { calls: [{ tool: "submit", input: { summary: "done" } }] };
export type Call = readonly [tool: string, input: object];
type ModelOptions = Extract<PersonaOptions, { readonly instructions: string; readonly command?: never }>;
type Tools = NonNullable<ModelOptions["tools"]>;

export function scriptOf(folder: string, calls: readonly Call[]): string {
  const script = join(folder, "script.json");
  const turns = calls.map(([tool, input]) => ({ calls: [{ tool, input }] }));
  writeFileSync(script, JSON.stringify({ personas: { dev: [[...turns, submit]] } }));
  return script;
}

interface More extends OpenOptions {
  readonly persona?: Partial<ModelOptions>;
}

/** A session whose model makes these calls; gives the results that it got. */
export async function session(
  mcp: McpDefinition,
  tools: Tools,
  calls: readonly Call[],
  { persona: more = {}, ...options }: More = {},
) {
  const place = new TeamPlace();
  const maestro = await place.open({ script: scriptOf(temporaryFolder(), calls), ...options });
  const team = defineTeam("called", {
    model: "simulated",
    mcp,
    phases: [phase("work", { personas: [persona("dev", { instructions: "Call.", tools, ...more })] })],
  });
  const started = await maestro.start(team, { brief: "x", key: "k" });
  const result = await started.result();
  const { rows } = await readRecorded(place.stateDir, "k");
  const steps = rows.filter(({ kind }) => kind === "step.tool");
  const outputs = steps
    .filter(({ name }) => !String(name).startsWith("mcp/"))
    .map(({ body }) => (JSON.parse(body) as { result: ToolResult }).result);
  return { result, steps, outputs, maestro, team, started, place };
}

interface ToolResult {
  readonly output?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly artifact?: string;
}
