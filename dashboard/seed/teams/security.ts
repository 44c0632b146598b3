import { defineTeam, persona, phase } from "../../../src/index.ts";
import { ask, atOnce, minuteMs, type Pace, secondMs } from "../work.ts";

/** Its scanner depends on a service that is down. */
export const securityTeam = (pace: Pace) =>
  defineTeam("security", {
    budget: { usd: 4 },
    phases: [
      phase("model", {
        gate: 0.7,
        personas: [
          persona("security_specialist", {
            contract: { deliverables: ["threats.md"] },
            run: async (context) => {
              await ask(context, pace, "Who can reach the public API, and what do they want?", {
                input: 70_000,
                output: 9_000,
                tookMs: 5 * minuteMs,
              });
              await context.workspace.write("threats.md", "# Threats\n\n1. Stolen tokens\n");
              return { summary: "7 threats" };
            },
          }),
        ],
      }),
      phase("scan", {
        personas: [
          persona("scanner", {
            maxAttempts: 6,
            run: async (context) => {
              await context.step("list endpoints", () => pace(20 * secondMs, context.signal));
              await context.step("scan", () => unreachable("semgrep"), { dependency: "semgrep" });
              return { summary: "scanned" };
            },
          }),
        ],
      }),
      phase("report", { personas: [persona("technical_writer", { run: () => ({ summary: "reported" }) })] }),
    ],
  });

export const unreachable = (service: string): never => {
  throw Object.assign(new Error(`connect ECONNREFUSED ${service}:443`), { code: "ECONNREFUSED" });
};

export default securityTeam(atOnce);
