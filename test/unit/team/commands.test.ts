import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const agent = (script: string, options: Partial<PersonaOptions> = {}) =>
  defineTeam("agents", {
    phases: [
      phase("work", {
        personas: [
          persona("agent", {
            instructions: "Do it.",
            command: ["node", "-e", script],
            ...options,
          } as PersonaOptions),
        ],
      }),
    ],
  });

describe("an agent on the command line", () => {
  it("gets its prompt on stdin, works on its own copy of the files, and what it leaves is taken over", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const script = `
      const prompt = require("fs").readFileSync(0, "utf8");
      require("fs").writeFileSync("told.txt", prompt.includes("a parking app") ? "yes" : "no");
      console.log("wrote it down");`;
    const session = await maestro.start(agent(script), { brief: "a parking app" });
    const { status, results } = await session.result();
    expect(status).toBe("completed");
    expect(results["work"]?.["agent"]?.summary).toMatch(/wrote it down/);
    const { artifacts } = await maestro.show(session.id);
    expect(artifacts.map(({ path }) => path)).toEqual(["told.txt"]);
    expect((await maestro.artifact(session.id, artifacts[0]?.sha256 ?? "")).toString()).toBe("yes");
  });

  it("that writes where its policy does not allow it fails for good, is not run again, and changes nothing", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const script = `
      require("fs").mkdirSync("docs", { recursive: true });
      require("fs").writeFileSync("docs/a.md", "text");
      require("fs").writeFileSync("elsewhere.md", "text");`;
    const session = await maestro.start(agent(script, { policy: { write: ["docs/**"] } }), { brief: "x" });
    expect(await session.result()).toMatchObject({
      status: "failed",
      error: { code: "GOVERNANCE_VIOLATION", details: { paths: ["elsewhere.md"] } },
    });
    const { artifacts, phases } = await maestro.show(session.id);
    expect(artifacts).toEqual([]);
    expect(phases[0]?.personas[0]?.attempts).toMatchObject([
      { status: "failed", failure: { category: "GOVERNANCE" } },
    ]);
  });

  it("that fails is tried again and ends in help, with its own words", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(agent('console.error("no licence for today"); process.exit(3);'), {
      brief: "x",
    });
    const { status, reason } = await session.result();
    expect([status, reason]).toEqual(["parked", "help"]);
    const { phases } = await maestro.show(session.id);
    const attempts = phases[0]?.personas[0]?.attempts ?? [];
    expect(attempts).toHaveLength(6);
    expect(attempts[0]?.failure?.message).toMatch(/no licence for today/);
  });
});
