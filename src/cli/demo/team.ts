import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { defineTeam, type PersonaContext, persona, phase } from "../../index.ts";
import { noteEffect } from "./effects.ts";

const run = promisify(execFile);
/** Long enough to be seen, and to be killed in the middle of. */
const thinkingMs = 250;

/** What the team "thinks up": a URL shortener with tests that really run. */
const library = new URL("../../../teams/demo/", import.meta.url);

/** Thinks for a moment and writes one real file; the brief is the folder. No model is asked: this team is code. */
function write(context: PersonaContext, file: string): Promise<number> {
  return context.step(`write ${file}`, async () => {
    await new Promise((resolve) => setTimeout(resolve, thinkingMs));
    const content = await readFile(new URL(file, library));
    const path = join(context.brief, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await noteEffect(context.brief, file);
    return content.length;
  });
}

function writer(name: string, summary: string, files: readonly string[]) {
  return persona(name, {
    run: async (context) => {
      let bytes = 0;
      for (const file of files) bytes += await write(context, file);
      return { summary, outputs: { files: [...files], bytes } };
    },
  });
}

const tester = persona("test_engineer", {
  run: async (context) => {
    const passed = await context.step("run the tests", async () => {
      const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap"], {
        cwd: context.brief,
      });
      await noteEffect(context.brief, "tests");
      return Number(/^# pass (\d+)/m.exec(stdout)?.[1]);
    });
    return { summary: `${passed} tests passed`, outputs: { passed } };
  },
});

export default defineTeam("demo", {
  phases: [
    phase("requirements", {
      personas: [writer("requirement_analyst", "what a URL shortener must do", ["docs/requirements.md"])],
    }),
    phase("design", { personas: [writer("solution_architect", "two modules and why", ["docs/design.md"])] }),
    phase("implementation", {
      personas: [
        writer("backend_developer", "codes, store and server", [
          "src/code.mjs",
          "src/store.mjs",
          "src/server.mjs",
        ]),
        writer("technical_writer", "how to use it", ["README.md"]),
      ],
    }),
    phase("testing", {
      personas: [writer("qa_engineer", "tests for every requirement", ["test/shortener.test.mjs"])],
    }),
    phase("deployment", { personas: [tester] }),
  ],
});
