import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defineTeam, type PersonaOptions, persona, phase, proveCommands } from "../../../src/index.ts";
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

it("a program that is not installed is an error before a session exists", async () => {
  const missing = agent("", { command: ["no-such-agent-here"] });
  await expect(proveCommands(missing)).rejects.toThrow(
    "Persona agent runs no-such-agent-here, which is not installed.",
  );
  await proveCommands(agent(""));
  await proveCommands(agent("", { command: ["./made-by-an-earlier-phase"] }));
});

describe("an agent on the command line", () => {
  it("gets its prompt on stdin, works on its own copy of the files, and its changes are taken over", async () => {
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

  it("that writes against its policy fails for good, is not retried, and changes nothing", async () => {
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

  it("may be silent for longer than an attempt may make no progress: it has its own limit", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({
      attempts: { max: 3, baseDelayMs: 1, maxDelayMs: 1, timeoutMs: 1000 },
    });
    const script = "setTimeout(() => console.log('done at last'), 2500)";
    const session = await maestro.start(agent(script), { brief: "x" });
    const { status, results } = await session.result();
    expect([status, results["work"]?.["agent"]?.summary]).toEqual(["completed", "done at last"]);
    const { phases } = await maestro.show(session.id);
    expect(phases[0]?.personas[0]?.attempts).toHaveLength(1);
  });

  it("that reports decisions has them recorded", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const decisions = [{ decision: "SQLite", reason: "one file", rejected: ["Postgres"] }];
    const word = JSON.stringify({ summary: "chosen", decisions });
    const session = await maestro.start(agent(`console.log(${JSON.stringify(word)})`), { brief: "x" });
    await session.result();
    expect((await maestro.show(session.id)).decisions).toMatchObject([
      { title: "SQLite", reason: "one file", rejected: ["Postgres"], persona: "agent" },
    ]);
  });

  it("that is not installed is tried once and then needs a person", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = agent("", { command: ["no-such-agent-here", "-p"] });
    const session = await maestro.start(team, { brief: "x" });
    const { status, reason, error } = await session.result();
    expect([status, reason]).toEqual(["parked", "help"]);
    expect(error?.message).toMatch(/no-such-agent-here is not installed/);
    const { phases } = await maestro.show(session.id);
    expect(phases[0]?.personas[0]?.attempts).toHaveLength(1);
  });

  it("that fails with a provider's error text opens no breaker and gets all its attempts", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = agent(
      'console.error("expected 200, got 401 unauthorized; request timed out"); process.exit(1)',
    );
    const session = await maestro.start(team, { brief: "x" });
    await session.result();
    const { phases } = await maestro.show(session.id);
    expect(phases[0]?.personas[0]?.attempts).toHaveLength(6);
    expect(await maestro.breakers()).toEqual([]);
  });

  it("whose provider fails resumes its own session in the next attempt, on the files it left", async () => {
    const place = new TeamPlace();
    const bin = mkdtempSync(join(tmpdir(), "maestro-bin-"));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    const script = `#!/usr/bin/env node
      const fs = require("fs");
      const print = (event) => console.log(JSON.stringify({ session_id: "s-1", ...event }));
      const resumed = process.argv.at(-2) === "--resume" && process.argv.at(-1) === "s-1";
      print({ type: "system", subtype: "init" });
      if (!resumed) fs.writeFileSync("first.txt", "first");
      if (!resumed) print({ type: "result", is_error: true, result: "API Error: 529 overloaded" });
      else print({ type: "result", subtype: "success", result: "went on after " + fs.readdirSync(".") });
      process.exitCode = resumed ? 0 : 1;`;
    writeFileSync(join(bin, "claude"), script);
    chmodSync(join(bin, "claude"), 0o755);
    vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const maestro = await place.open();
    const session = await maestro.start(agent("", { command: ["claude", "-p"] }), { brief: "x" });
    const { status, results } = await session.result();
    expect([status, results["work"]?.["agent"]?.summary]).toEqual(["completed", "went on after first.txt"]);
    const { phases, artifacts } = await maestro.show(session.id);
    expect(phases[0]?.personas[0]?.attempts.map((attempt) => attempt.failure?.category)).toEqual([
      "API_ERROR",
      undefined,
    ]);
    expect(artifacts.map(({ path }) => path)).toEqual(["first.txt"]);
  });

  it("leaves no files on disk", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(agent('require("fs").writeFileSync("a", "a")'), { brief: "x" });
    await session.result();
    expect(readdirSync(join(place.stateDir, "scratch", "kept", session.id))).toEqual([]);
    await maestro.close();
    const again = await place.open();
    await expect.poll(() => readdirSync(join(place.stateDir, "scratch", "kept"))).toEqual([]);
    await again.close();
  });

  it("that fails is retried and ends in help, with its own error text", async () => {
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
