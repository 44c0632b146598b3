import type { PersonaContext, Team } from "../../../src/index.ts";
import type { FunctionContext } from "../../../src/personas/function.ts";
import { department } from "./department.ts";
import { leaveMark, markOf } from "./effects.ts";
import { author, everything, writes } from "./file-work.ts";
import { defineTeam, persona, phase } from "./package.ts";
import { type Step, type World, worker } from "./worker.ts";

/** Teams whose personas write files. */
export const fileTeams = {
  /** Contracts with checks, outputs that are healed, two personas that change the same line, and one that waits for them. */
  crew: (world) =>
    defineTeam("crew", {
      phases: [
        phase("plan", {
          personas: [
            worker(
              "analyst",
              world,
              async (context, step) => {
                await writes(step, context, "docs/plan.md", "# Plan\n");
                await context.workspace.write("src/parts.md", "first\nsecond\nthird\n");
                await step("needs", "3");
              },
              {
                contract: {
                  deliverables: ["docs/*.md"],
                  outputs: {
                    type: "object",
                    properties: { needs: { type: "integer" } },
                    required: ["needs"],
                  },
                  checks: [{ name: "has-title", run: ["grep", "-q", "^# ", "docs/plan.md"] }],
                },
              },
            ),
          ],
        }),
        phase("build", {
          personas: [
            worker("backend", world, takesSecondLine("backend")),
            worker("frontend", world, takesSecondLine("frontend")),
            worker(
              "tester",
              world,
              async (context, step) => {
                await writes(step, context, "test/parts.md", await everything(context));
              },
              {
                consumes: ["backend"],
                contract: {
                  checks: [{ name: "is-tested", run: ["grep", "-q", "^backend", "test/parts.md"] }],
                },
              },
            ),
          ],
        }),
        phase("review", {
          personas: [
            worker("reviewer", world, async (context, step) => {
              await step("read", () => everything(context));
            }),
          ],
        }),
      ],
    }),

  /** A persona names the dependencies, a setup installs them, and a check needs them. */
  installed: (world) =>
    defineTeam("installed", {
      setup: { run: ["sh", "-c", "mkdir deps && cp lock.txt deps/"], inputs: ["lock.txt"], keep: ["deps"] },
      phases: [
        phase("build", {
          personas: [
            worker("developer", world, (context, step) => writes(step, context, "lock.txt", "one\n"), {
              contract: { checks: [{ name: "has-deps", run: ["grep", "-q", "one", "deps/lock.txt"] }] },
            }),
          ],
        }),
      ],
    }),

  /** A model writes and another persona reads. The model's prompt comes from two parallel personas. */
  novel: (world) =>
    defineTeam("novel", {
      phases: [
        phase("gather", { personas: [author("scout", world, "notes/places.md")] }),
        phase("outline", {
          personas: [
            // Waits for its files, so that the other one begins first.
            author("plotter", world, "notes/plot.md", ["scout"]),
            author("namer", world, "notes/names.md"),
          ],
        }),
        phase("write", {
          personas: [
            persona("novelist", {
              model: "simulated",
              instructions: "Write the first chapter.",
              contract: { deliverables: ["chapters/1.md"] },
            }),
          ],
        }),
        phase("read", {
          personas: [
            worker("critic", world, async (context, step) => {
              await step("read", () => everything(context));
            }),
          ],
        }),
      ],
    }),

  /** Two branches that leave different versions of a file, and a phase that depends on both. */
  branches: (world) =>
    defineTeam("branches", {
      phases: [
        phase("root", {
          personas: [
            worker("founder", world, async (context, step) => {
              await writes(step, context, "both.md", "first\nsecond\nthird\n");
              await writes(step, context, "one.md", "first\nsecond\nthird\n");
            }),
          ],
        }),
        phase("left", {
          dependsOn: ["root"],
          personas: [
            worker("leftist", world, async (context, step) => {
              await writes(step, context, "both.md", "first\nleft\nthird\n");
              await writes(step, context, "one.md", "first\nsecond\nleft\n");
            }),
          ],
        }),
        phase("right", {
          dependsOn: ["root"],
          personas: [
            worker("rightist", world, async (context, step) => {
              await writes(step, context, "both.md", "first\nright\nthird\n");
            }),
          ],
        }),
        phase("meet", {
          dependsOn: ["left", "right"],
          personas: [
            worker("mediator", world, async (context, step) => {
              await step("read", () => everything(context));
            }),
          ],
        }),
      ],
    }),

  /** One persona is reopened twice: by a check that fails on the merged files, and by a later group that removes its file. */
  workshop: (world) =>
    defineTeam("workshop", {
      phases: [
        phase("make", {
          personas: [
            worker(
              "maker",
              world,
              async (context, step) => {
                const files = context.workspace.list();
                if (files.length === 0) await writes(step, context, "first.md", "first\n");
                if (!files.includes("made.md")) await writes(step, context, "made.md", "made\n");
                if (files.includes("mate.md")) await writes(step, context, "fits.md", "fits\n");
                await step("look");
              },
              {
                contract: {
                  deliverables: ["made.md"],
                  checks: [{ name: "fits", run: ["sh", "-c", "test ! -e mate.md || test -e fits.md"] }],
                },
              },
            ),
            author("mate", world, "mate.md"),
            worker(
              "cleaner",
              world,
              async (context, step) => {
                await step("look");
                await context.workspace.remove("made.md");
                await writes(step, context, "clean.md", "clean\n");
              },
              { consumes: ["maker"] },
            ),
          ],
        }),
        phase("read", {
          personas: [
            worker("reader", world, async (context, step) => {
              await step("read", () => everything(context));
            }),
          ],
        }),
      ],
    }),

  /** Each persona's output contains its input, so that another input gives another output. */
  shop: (world) =>
    defineTeam("shop", {
      phases: [
        phase("needs", {
          personas: [
            author("api_analyst", world, "docs/api.md"),
            author("page_analyst", world, "docs/page.md"),
          ],
        }),
        phase("build", {
          personas: [
            author("backend", world, "src/api.js", ["api_analyst"]),
            author("database", world, "src/tables.sql", ["api_analyst", "backend"]),
            world.isChanged === true
              ? author("frontend", world, "src/pages.js", ["page_analyst", "api_analyst"])
              : author("frontend", world, "src/page.js", ["page_analyst"]),
          ],
        }),
        phase("test", { personas: [author("tester", world, "test/all.js")] }),
      ],
    }),

  /** Records several command steps in a row; a real agent records only one. */
  delegate: (world) =>
    defineTeam("delegate", {
      phases: [
        phase("work", {
          personas: [
            persona("delegate", {
              run: async (context) => {
                const command = (name: string) =>
                  (context as FunctionContext).runStep({
                    kind: "command",
                    name,
                    input: { argv: [name] },
                    effect: async () => {
                      leaveMark(world.marks, markOf("delegate", context.failures.length + 1, name));
                      await context.workspace.write(`${name}.md`, `${name} was here\n`);
                      return `${name} ended with 0`;
                    },
                  });
                const outputs = { first: await command("first"), second: await command("second") };
                return { summary: await everything(context), outputs };
              },
            }),
          ],
        }),
      ],
    }),

  /** An external program that writes a file. */
  outsourced: () =>
    defineTeam("outsourced", {
      phases: [
        phase("work", {
          personas: [
            persona("agent", { instructions: "Work.", command: ["sh", "-c", "echo done > part.md"] }),
          ],
        }),
      ],
    }),

  department,
} as const satisfies Record<string, (world: World) => Team>;

/** The first to be merged keeps the line; the other one gets the conflict and changes its own. */
function takesSecondLine(name: string) {
  return async (context: PersonaContext, step: Step): Promise<void> => {
    await step("look");
    const isFirst = (await context.workspace.readText("src/parts.md")).includes("second\n");
    const edit = isFirst
      ? { find: "second\n", replace: `${name}\n` }
      : { find: "third\n", replace: `third\n${name}\n` };
    await context.workspace.edit("src/parts.md", [edit]);
    await step("check");
  };
}
