import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtInTeam, defineTeam, loadTeam, persona, phase, type Team } from "../../../src/index.ts";
import { classifyByRules } from "../../../src/run/planning/classify-brief.ts";
import { planFor } from "../../../src/run/planning/plan-session.ts";
import { recordedFault } from "../../../src/team/definition/check-recorded.ts";
import { teamFingerprint } from "../../../src/team/definition/fingerprint.ts";
import { definitionJson } from "../../../src/team/definition/team-definition.ts";

const root = join(import.meta.dirname, "../../..");

const faultOf = ({ definition, fingerprint }: Pick<Team, "definition" | "fingerprint">) =>
  recordedFault(JSON.parse(JSON.stringify(definition)) as never, fingerprint);

describe("a definition that this version recorded has no fault", () => {
  test("of the team of the demo", async () => {
    expect(faultOf((await loadTeam(join(root, "teams/demo/team.yaml"))).team)).toBeUndefined();
  });

  test.each([
    "Build a parking app for one city with payments",
    "Fix a typo in the README",
    "A data pipeline with a dashboard",
  ])("of the built-in team, planned for: %s", async (brief) => {
    const team = await builtInTeam();
    expect(faultOf(team)).toBeUndefined();
    expect(faultOf(planFor(team, classifyByRules(brief)).team)).toBeUndefined();
  });

  test("of a team with every kind of work and every kind of limit", () => {
    const team = defineTeam("t", {
      description: "d",
      model: "simulated",
      parallel: 3,
      budget: { tokens: 5, usd: 0.5 },
      phases: [
        phase("one", {
          gate: { threshold: 0.5, onFail: "warn" },
          review: true,
          budget: { usd: 1 },
          personas: [
            persona("code", { run: async () => ({ summary: "" }), healing: "off" }),
            persona("model", {
              instructions: "Do it.",
              fallbackModels: ["simulated"],
              temperature: 0.5,
              tools: ["read_file"],
              contract: {
                deliverables: ["docs/a.md", { name: "b", files: ["b", "!c"], must: false, weight: 2 }],
                outputs: { type: "object", properties: { none: { const: null } } },
                checks: [{ name: "c", run: ["true"], timeoutMs: 5 }],
              },
            }),
            persona("named", {
              agent: "codex",
              model: "openai/gpt-5-codex",
              permissions: "read",
              reserve: { tokens: 5, usd: 0.1 },
            }),
            persona("command", {
              command: ["claude", "-p"],
              env: ["A"],
              readable: ["~/.a"],
              network: false,
              reserve: { tokens: 5, usd: 0.1 },
              policy: { write: ["src/**"] },
            }),
          ],
        }),
        phase("two", { dependsOn: [], personas: [persona("last", { instructions: "x", consumes: [] })] }),
      ],
    });
    expect(faultOf(team)).toBeUndefined();
  });
});

test("a value that the reader would have changed was not recorded by it", () => {
  const { definition } = defineTeam("t", {
    phases: [phase("one", { personas: [persona("p", { command: ["x"], env: ["A"] })] })],
  });
  const changed = JSON.parse(
    JSON.stringify(definitionJson(definition)).replace('["A"]', '["A","A"]'),
  ) as never;
  expect(recordedFault(changed, teamFingerprint(changed))).toBe("it has values that no team file has");
});
