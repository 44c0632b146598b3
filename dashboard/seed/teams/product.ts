import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { ask, atOnce, minuteMs, type Pace, secondMs, tell, untilSignal } from "../work.ts";
import { unreachable } from "./security.ts";

export const busyMs = 7 * minuteMs;

/** Stands in the middle of its work for as long as the server runs: one persona writes, one retries, one waits. */
export const productTeam = (pace: Pace) => {
  const steps = async (context: PersonaContext, names: readonly string[]) => {
    for (const name of names) await context.step(name, () => pace(12 * secondMs, context.signal));
  };
  return defineTeam("product", {
    parallel: 5,
    budget: { usd: 12 },
    phases: [
      phase("requirements", {
        gate: 0.75,
        budget: { usd: 3 },
        personas: [
          persona("requirement_analyst", {
            contract: { deliverables: ["docs/requirements.md"] },
            run: async (context) => {
              await ask(context, pace, "I ask what a driver needs first.", {
                input: 60_000,
                output: 8_000,
                tookMs: 2 * minuteMs,
              });
              await context.workspace.write("docs/requirements.md", "# Requirements\n\n1. Pay by plate\n");
              return { summary: "12 testable requirements" };
            },
          }),
        ],
      }),
      phase("design", {
        gate: 0.8,
        personas: [
          persona("solution_architect", {
            contract: { deliverables: ["design/*.md"] },
            run: async (context) => {
              await ask(context, pace, "Postgres is enough for one city.", {
                input: 90_000,
                cached: 40_000,
                output: 12_000,
                tookMs: 4 * minuteMs,
              });
              await context.workspace.write("design/decisions.md", "# Decisions\n\n1. PostgreSQL\n");
              await context.workspace.write(
                "src/payments/service.ts",
                "export const pay = (amount: number) => charge(amount);\n",
              );
              return {
                summary: "service, database and API; 1 decision",
                decisions: [
                  {
                    title: "Database",
                    choice: "PostgreSQL for everything",
                    reason: "One city has 40,000 parking events a day",
                    rejected: ["event store: a second source of truth"],
                  },
                ],
              };
            },
          }),
        ],
      }),
      phase("implementation", {
        gate: 0.7,
        budget: { usd: 8 },
        personas: [
          persona("backend_developer", {
            run: async (context) => {
              await ask(context, pace, "I start with the payments, because refunds need them.", {
                input: 90_000,
                output: 9_000,
              });
              await steps(
                context,
                Array.from({ length: 24 }, (_, index) => `migrate table ${index + 1}`),
              );
              await context.workspace.write(
                "src/payments/service.ts",
                "export async function pay(amount: number) {\n  if (seen) return seen;\n  return charge(amount);\n}\n",
              );
              await tell(
                context,
                "text-ends",
                "The refund goes back to the card that paid, and so it ends. ",
              );
              await steps(context, ["write refunds", "write receipts"]);
              await untilSignal("parking-1", context.signal);
              return { summary: "payments and refunds" };
            },
          }),
          persona("frontend_developer", {
            contract: { checks: [{ name: "typecheck", run: ["grep", "-q", "strict", "src/app.ts"] }] },
            run: async (context) => {
              await context.step("write src/app.ts", () => pace(busyMs, context.signal));
              await context.workspace.write("src/app.ts", "export const app: any = {};\n");
              return { summary: "screens" };
            },
          }),
          persona("security_specialist", {
            run: async (context) => {
              await context.step("list secrets", () => pace(busyMs, context.signal));
              await context.step("review with gpt-5", () => unreachable("openai"), { dependency: "openai" });
              return { summary: "reviewed" };
            },
          }),
          persona("database_specialist", {
            run: async (context) => {
              await steps(context, ["create tables", "create indexes"]);
              await context.workspace.write("db/001.sql", "create table tickets (id text primary key);\n");
              return { summary: "2 tables" };
            },
          }),
          persona("ui_ux_designer", {
            run: async (context) => {
              await steps(context, ["draw screens"]);
              return { summary: "4 screens" };
            },
          }),
        ],
      }),
      phase("testing", {
        personas: [persona("qa_engineer", { run: () => ({ summary: "tested" }) })],
      }),
      phase("deployment", {
        personas: [persona("devops_engineer", { run: () => ({ summary: "deployed" }) })],
      }),
    ],
  });
};

/** Five outages in a row open the breaker that the product team then waits for. */
export const outageTeam = defineTeam("outage", {
  phases: [
    phase("call", {
      personas: [
        persona("caller", {
          maxAttempts: 5,
          run: async (context) => {
            await context.step("call gpt-5", () => unreachable("openai"), { dependency: "openai" });
            return { summary: "called" };
          },
        }),
      ],
    }),
  ],
});

export default productTeam(atOnce);
