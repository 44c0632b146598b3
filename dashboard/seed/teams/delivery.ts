import { defineTeam, type Persona, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { ask, atOnce, minuteMs, type Pace, type Question, secondMs } from "../work.ts";

const haiku = "anthropic/claude-haiku-4-5";
const gpt = "openai/gpt-5";

/** The check of the payments: it sends EUR, whatever the design allows. */
const apiTest = `import { readFileSync } from "node:fs";
const allowed = /enum: \\["(.+?)"\\]/.exec(readFileSync("design/openapi.yaml", "utf8"))?.[1];
for (let test = 1; test <= 14; test += 1) console.log(\`ok \${test} - creates, reads and refunds\`);
if (allowed === "EUR") process.exit(0);
console.error("FAIL test/payments.mjs > creates a payment");
console.error('AssertionError: expected 201 "Created", got 422 "Unprocessable Entity"');
console.error(\`  body: {"code":"invalid_currency","allowed":["\${allowed}"]}\`);
console.error("  at test/payments.mjs:31:8");
console.error("14 passed, 1 failed");
process.exit(1);
`;

export const openapi = (currency: string): string =>
  [
    "openapi: 3.1.0",
    "paths:",
    ...Array.from(
      { length: 20 },
      (_, index) => `  /zones/{zone}/part-${index}: { get: { summary: part ${index} } }`,
    ),
    "components:",
    "  schemas:",
    "    Payment:",
    "      properties:",
    "        currency:",
    `          enum: ["${currency}"]`,
    "        amount: { type: integer, minimum: 1 }",
    ...Array.from({ length: 40 }, (_, index) => `        field_${index}: { type: string }`),
    "",
  ].join("\n");

const service = `import { db, type Transaction } from "../db.ts";
import { charge } from "./provider.ts";

/** One charge per ticket, however often the client asks. */
export async function pay(ticket: Ticket, amount: number): Promise<Receipt> {
  const key = \`ticket-\${ticket.id}\`;
  const seen = await db.payments.byKey(key);
  if (seen) return seen; // already paid
  return db.tx((tx: Transaction) => charge(tx, ticket, key));
}

const limits = { refund: 0.5, retries: 3, "max-wait": 1_000 };
`;

/** The brief names the currency; everything after it follows from that. */
export const deliveryTeam = (pace: Pace) => {
  const think = (context: PersonaContext, text: string, question: Question) =>
    ask(context, pace, text, question);
  const write = (context: PersonaContext, path: string, content: string) =>
    context.step(`write ${path}`, async () => {
      await pace(8 * secondMs, context.signal);
      await context.workspace.write(path, content);
    });
  const author = (name: string, path: string, content: string, question: Question): Persona =>
    persona(name, {
      run: async (context) => {
        await think(context, `I write ${path}.`, question);
        await write(context, path, content);
        return { summary: `${path} is written` };
      },
    });
  return defineTeam("delivery", {
    description: "Plans, builds, tests and deploys a change",
    parallel: 4,
    phases: [
      phase("requirements", {
        gate: 0.75,
        personas: [
          persona("requirement_analyst", {
            contract: { deliverables: ["docs/requirements.md"] },
            run: async (context) => {
              await think(context, "I turn the brief into requirements.", { input: 30_000, output: 6_000 });
              await write(
                context,
                "docs/requirements.md",
                `# Requirements\n\n1. ${context.brief}\n2. A refund within a day\n`,
              );
              return { summary: "2 testable requirements", outputs: { requirements: 2 } };
            },
          }),
        ],
      }),
      phase("design", {
        gate: 0.8,
        personas: [
          persona("solution_architect", {
            contract: { deliverables: ["design/openapi.yaml", "design/decisions.md"] },
            run: async (context) => {
              const currency = context.brief.includes("€") ? "€" : "EUR";
              await think(context, "I look for the smallest API that does it.", {
                input: 90_000,
                cached: 60_000,
                output: 12_000,
              });
              await write(context, "design/openapi.yaml", openapi(currency));
              await write(context, "design/decisions.md", "# Decisions\n\n1. One service\n");
              return {
                summary: "service, database and API; 2 decisions",
                outputs: { endpoints: 20 },
                decisions: [
                  {
                    title: "Services",
                    choice: "One service owns payments and refunds",
                    reason: "A refund must see the payment it returns",
                    rejected: ["one service each: two sources of truth"],
                  },
                  {
                    title: "Brief",
                    choice: `The brief is taken literally: ${context.brief}`,
                    reason: context.brief,
                    rejected: [],
                  },
                ],
              };
            },
          }),
          author("security_specialist", "design/threats.md", "# Threats\n\n1. Replayed payments\n", {
            model: gpt,
            input: 60_000,
            output: 9_000,
          }),
        ],
      }),
      phase("implementation", {
        gate: 0.7,
        personas: [
          persona("backend_developer", {
            contract: {
              deliverables: ["src/payments/service.ts", "test/payments.mjs"],
              checks: [{ name: "api-tests", run: ["node", "test/payments.mjs"] }],
            },
            run: async (context) => {
              await think(context, "I implement the API as the design says.", {
                input: 120_000,
                cached: 90_000,
                output: 14_000,
                tookMs: 3 * minuteMs,
              });
              await write(context, "src/payments/service.ts", service);
              await write(context, "test/payments.mjs", apiTest);
              return { summary: "payments and refunds, with tests", outputs: { files: 2 } };
            },
          }),
          author("frontend_developer", "src/app/pay.tsx", "export const Pay = () => null;\n", {
            model: haiku,
            input: 80_000,
            output: 9_000,
          }),
          author(
            "database_specialist",
            "db/001_payments.sql",
            "create table payments (id text primary key);\n",
            {
              model: haiku,
              input: 40_000,
              output: 3_000,
            },
          ),
        ],
      }),
      phase("testing", {
        gate: 0.85,
        personas: [
          persona("qa_engineer", {
            contract: {
              deliverables: ["test/report.md"],
              checks: [{ name: "report-lists-results", run: ["grep", "-q", "passed", "test/report.md"] }],
            },
            run: async (context) => {
              for (const part of ["payments", "refunds"])
                await think(context, `I test ${part}.`, { input: 110_000, cached: 70_000, output: 28_000 });
              await write(context, "test/report.md", "# Report\n\n15 tests passed\n");
              return { summary: "15 tests passed" };
            },
          }),
        ],
      }),
      phase("deployment", {
        personas: [
          author("devops_engineer", "deploy/compose.yaml", "services: { app: { image: parking } }\n", {
            model: haiku,
            input: 20_000,
            output: 2_000,
          }),
        ],
      }),
    ],
  });
};

export default deliveryTeam(atOnce);
