import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import type { FaultPoint } from "../../src/store/fault-points.ts";
import { LoopbackModels } from "../support/loopback-models.ts";
import type { PlanOptions } from "./support/plan.ts";

const answer = {
  type: "feature",
  complexity: "small",
  parallelism: "few",
  expertise: ["database"],
  risks: ["None that I know."],
  confidence: 0.5,
  reason: "Because.",
};

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
}

/** Runs one process to its end. */
function live(options: PlanOptions, env: Readonly<Record<string, string>>): Promise<Ended> {
  const child = fork(join(import.meta.dirname, "support/plan.ts"), [JSON.stringify(options)], {
    silent: true,
    execArgv: [],
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (_, signal) => resolve({ signal, said }));
  });
}

test.each<[point: FaultPoint, before: number, asked: number]>([
  ["session.created:before-commit", 0, 1],
  ["session.created:after-commit", 0, 1],
  ["session.claimed:after-commit", 0, 1],
  // Paid and not recorded: the window of at-least-once, as for every call.
  ["team.changed:before-commit", 1, 2],
  ["team.changed:after-commit", 1, 1],
  ["decision.recorded:after-commit", 1, 1],
  ["phase.started:after-commit", 1, 1],
  ["attempt.completed:after-commit", 1, 1],
])(
  "a plan whose process is killed at %s after %i calls takes %i calls in all and records each decision once",
  async (point, before, asked) => {
    const stateDir = mkdtempSync(join(tmpdir(), "maestro-planning-"));
    const models = await LoopbackModels.start([{ text: JSON.stringify(answer) }]);
    onTestFinished(async () => {
      await models.close();
      rmSync(stateDir, { recursive: true, force: true });
    });
    const killed = await live({ stateDir, fault: { point, hit: 1, act: "kill" } }, models.env);
    expect(killed).toMatchObject({ signal: "SIGKILL" });
    expect(models.requests).toHaveLength(before);
    // A second plan would get another answer.
    models.script = [
      { text: JSON.stringify(before === asked ? { ...answer, expertise: ["frontend"] } : answer) },
    ];
    const { said } = await live({ stateDir }, models.env);
    expect(JSON.parse(said)).toMatchObject({
      status: "completed",
      results: {
        design: { solution_architect: {}, database_specialist: {} },
        implementation: { backend_developer: {}, poet: {} },
      },
    });
    expect(models.requests).toHaveLength(asked);
    const maestro = await open({ stateDir });
    onTestFinished(() => maestro.close());
    const kinds: string[] = [];
    for await (const { kind } of maestro.events("planned", { follow: false })) kinds.push(kind);
    expect(kinds.filter((kind) => kind === "decision.recorded")).toHaveLength(4);
    expect(kinds.lastIndexOf("decision.recorded")).toBeLessThan(kinds.indexOf("phase.started"));
    const { decisions } = await maestro.show("planned");
    expect(decisions.map(({ title }) => title)).toEqual([
      "Classification",
      "Blueprint",
      "Personas",
      "Contracts",
    ]);
    expect(decisions[0]?.reason).toMatch(/^Because\./);
  },
  60_000,
);
