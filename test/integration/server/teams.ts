import {
  defineTeam,
  type PersonaContext,
  persona,
  phase,
  type Team,
  TeamInvalid,
} from "../../../src/index.ts";

/** Quick retries, so that what fails fails soon. */
export const quickRetries = {
  attempts: { max: 2, baseDelayMs: 1, maxDelayMs: 2 },
  rounds: { max: 1, baseDelayMs: 1, maxDelayMs: 2 },
} as const;

/** A text that a model might write to do harm wherever it is shown. */
export const hostile =
  '</script><script>alert(1)</script> [x](javascript:alert(1)) \u001b[31mred\u001b]8;;http://evil.example\u0007 \n\nid: 999\nevent: hello\ndata: {}\n\n "\\\u2028\u202e\u0000';

/** Parks after the first phase, which leaves files of every kind. */
export const reviewTeam: Team = defineTeam("review", {
  phases: [
    phase("design", {
      review: true,
      gate: 0.5,
      personas: [
        persona("architect", {
          run: async ({ workspace, step, brief }: PersonaContext) => {
            await step("write", async () => {
              await workspace.write("docs/design.md", `# Design\n${brief}\n`);
              await workspace.write("page.html", "<script>alert(1)</script>");
            });
            return {
              summary: `designed ${brief}`,
              outputs: { brief },
              decisions: [{ title: "how", choice: "plain", reason: "simple", rejected: ["fancy"] }],
            };
          },
          contract: { deliverables: [{ name: "design", files: ["docs/*.md"] }] },
        }),
      ],
    }),
    phase("build", {
      personas: [persona("builder", { run: async () => ({ summary: "built" }) })],
    }),
  ],
});

export const failingTeam: Team = defineTeam("failing", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief }: PersonaContext) => {
            throw new Error(`it does not work: ${brief}`);
          },
        }),
      ],
    }),
  ],
});

export const brokenTeam: Team = defineTeam("broken", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async () => {
            throw new TeamInvalid("The team is not what it should be.");
          },
        }),
      ],
    }),
  ],
});

/** Stands still until the test lets it go on; `entered` says who is in. */
export class Gate {
  readonly entered: string[] = [];
  #open: (() => void) | undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  open(): void {
    this.#open?.();
  }

  team(name = "gated", steps = 1): Team {
    return defineTeam(name, {
      phases: [
        phase("only", {
          personas: [
            persona("worker", {
              run: async ({ brief, step, signal }: PersonaContext) => {
                this.entered.push(brief);
                await Promise.race([
                  this.#opened,
                  new Promise((_resolve, reject) => {
                    signal.addEventListener("abort", () => reject(signal.reason as Error));
                  }),
                ]);
                for (let count = 0; count < steps; count += 1) await step(`step ${count}`, () => count);
                return { summary: "through" };
              },
            }),
          ],
        }),
      ],
    });
  }
}

/** Fails the first time, after it happened. */
export function payingTeam() {
  const happened: string[] = [];
  const team = defineTeam("paying", {
    phases: [
      phase("work", {
        personas: [
          persona("payer", {
            run: async ({ step }) => {
              const paid = await step<unknown>(
                "pay",
                () => {
                  happened.push("pay");
                  if (happened.length === 1) throw new Error("The line is dead.");
                  return "paid";
                },
                { effect: "once" },
              );
              return { summary: String(paid) };
            },
          }),
        ],
      }),
    ],
  });
  return { team, happened };
}

/** Sends a letter after approval, then asks where the answer goes. */
export function writingTeam() {
  const sent: unknown[] = [];
  const send = {
    description: "Sends a letter.",
    inputSchema: { type: "object", properties: { to: { type: "string" } }, additionalProperties: false },
    execute: (args: unknown) => {
      sent.push(args);
      return "sent";
    },
  };
  const team = defineTeam("writing", {
    phases: [
      phase("work", {
        personas: [
          persona("writer", {
            tools: { send: send as never, ask_person: true },
            approve: ["send"],
            run: async ({ tools }) => {
              const question = { question: "Which color?", choices: ["red", "blue"] };
              const said = [
                await tools["send"]?.execute({ to: "Ann" }),
                await tools["send"]?.execute({ to: "Bob" }),
                await tools["ask_person"]?.execute(question),
              ];
              return { summary: said.join("; ") };
            },
          }),
        ],
      }),
    ],
  });
  return { team, sent };
}
