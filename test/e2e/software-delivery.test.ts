import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtInTeam, type Maestro, open, type SessionView } from "../../src/index.ts";

const notices: string[] = [];

async function opened(): Promise<Maestro> {
  const stateDir = mkdtempSync(join(tmpdir(), "maestro-delivery-"));
  const maestro = await open({ stateDir, onNotice: (notice) => notices.push(notice) });
  onTestFinished(async () => {
    await maestro.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  return maestro;
}

/** The built-in team on this brief, with a simulated model that writes only what each contract requires. */
async function deliver(brief: string): Promise<SessionView> {
  const maestro = await opened();
  const session = await maestro.start(await builtInTeam(), { brief, model: "simulated" });
  expect(await session.result()).toMatchObject({ status: "completed" });
  return maestro.show(session.id);
}

const workers = ({ phases }: SessionView) => phases.map(({ personas }) => personas.map(({ name }) => name));

test.each<[brief: string, workers: readonly (readonly string[])[], files: readonly string[]]>([
  [
    "A command line tool that counts words.",
    [
      ["requirement_analyst"],
      ["solution_architect"],
      ["backend_developer"],
      ["test_engineer"],
      ["devops_engineer"],
    ],
    ["docs/interfaces.md", "docs/requirements.md", "src/simulated", "test/simulated"],
  ],
  [
    "Write a tutorial for beginners.",
    [
      ["requirement_analyst"],
      ["solution_architect"],
      ["technical_writer"],
      ["qa_engineer"],
      ["technical_writer"],
    ],
    ["docs/guide.md", "docs/outline.md", "docs/qa-report.md"],
  ],
  [
    `Build a multi-tenant marketplace platform with a web shop, a mobile app, payments, an admin dashboard, reporting and a
public API with unit tests. It should scale to millions of users and be deployed on Kubernetes with monitoring.`,
    [
      ["requirement_analyst"],
      ["solution_architect", "ui_ux_designer", "database_specialist", "security_specialist"],
      ["backend_developer", "frontend_developer"],
      ["test_engineer", "qa_engineer"],
      ["devops_engineer", "technical_writer"],
    ],
    [
      "db/simulated",
      "deploy/simulated",
      "docs/guide.md",
      "docs/security.md",
      "src/simulated",
      "web/simulated",
    ],
  ],
])(
  "the built-in team is planned for the brief, completes and passes every gate: %s",
  async (brief, who, files) => {
    const view = await deliver(brief);
    expect(workers(view)).toEqual(who);
    for (const { name, gate, personas } of view.phases) {
      expect([name, gate?.verdict]).toEqual([name, "passed"]);
      expect(gate?.score).toBeGreaterThanOrEqual(gate?.threshold ?? 1);
      // At the first attempt: no check requires more than a plain answer has.
      for (const persona of personas)
        expect([persona.name, persona.attempts.length]).toEqual([persona.name, 1]);
    }
    const written = view.artifacts.map(({ path }) => path);
    for (const file of files) expect(written).toContain(file);
    const titles = view.decisions.map(({ title }) => title);
    expect(titles).toEqual(["Classification", "Blueprint", "Personas", "Contracts"]);
    expect(notices).toEqual([]);
  },
);
