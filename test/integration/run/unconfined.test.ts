import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { defineTeam, type PersonaOptions, persona, phase, SandboxUnavailable } from "../../../src/index.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { sandboxAdvice } from "../../../src/workspace/unconfined.ts";
import { startServer } from "../server/support.ts";
import { TeamPlace } from "./place.ts";

// The trial is remembered: for all of this file the machine has no sandbox.
const none = { kind: "none", reason: "bwrap is not installed.", lacks: "program" } as const;
await describeSandbox(async () => none);

const check = { checks: [{ name: "made", run: ["touch", "made-by-check"] }] };
const teamOf = (...personas: readonly PersonaOptions[]) =>
  defineTeam("team", {
    model: "simulated",
    phases: personas.map((options, index) =>
      phase(`phase-${index}`, { personas: [persona(`worker-${index}`, options)] }),
    ),
  });

describe("on a machine without a sandbox", () => {
  const launching: [string, PersonaOptions, RegExp][] = [
    ["checks", { instructions: "Work.", contract: check }, /the checks of worker-1 in phase phase-1/],
    ["a command", { instructions: "Work.", command: ["node"] }, /the command of worker-1 in phase phase-1/],
    [
      "commands of a model",
      { instructions: "Work.", tools: ["run_command"] },
      /the commands of worker-1 in phase phase-1/,
    ],
  ];

  it.each(launching)(
    "a team with %s is refused before anything runs, and no session is left",
    async (_, options, what) => {
      const place = new TeamPlace();
      const maestro = await place.open();
      const team = teamOf({ run: place.work("first") }, options);
      const started = maestro.start(team, { brief: "b", key: "k" });
      await expect(started).rejects.toThrow(what);
      await expect(started).rejects.toMatchObject({
        name: "SandboxUnavailable",
        exitCode: 2,
        advice: expect.stringMatching(/Install bubblewrap: .*--sandbox none/) as string,
      });
      expect(place.ran).toEqual([]);
      expect(await maestro.sessions()).toEqual([]);
      await expect(maestro.queue(team, { brief: "b" })).rejects.toThrow(SandboxUnavailable);
      expect(await maestro.sessions()).toEqual([]);
    },
  );

  it("functions, and phases that this run leaves out, need none", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = teamOf({ run: place.work("first") }, { run: place.work("second"), contract: check });
    const session = await maestro.start(team, { brief: "b", only: ["phase-0"] });
    expect(await session.result()).toMatchObject({ status: "paused" });
    await expect((await maestro.resume(session.id)).result()).rejects.toThrow(SandboxUnavailable);
    await expect(maestro.fork(session.id, { at: "phase-1" })).rejects.toThrow(SandboxUnavailable);
    expect(place.ran).toEqual(["first"]);
    expect((await maestro.show(session.id)).status).toBe("paused");
  });

  it("recovery leaves the session alone and says why", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = teamOf({ run: place.work("first"), contract: check });
    const { id } = await maestro.create(team, { brief: "b" });
    const allowed = await place.open({ sandbox: "none" });
    await allowed.queueResume(id, { team });
    await allowed.close();
    const scheduler = maestro.scheduler({ places: 1, report: (text) => place.notices.push(text) });
    const claims = async () => (await maestro.show(id)).updatedAt;
    const before = await claims();
    await scheduler.tick();
    expect(place.notices.join()).toMatch(/could not be resumed: .*no sandbox.*tried again every minute/);
    expect([place.ran, await claims()]).toEqual([[], before]);
    await scheduler.stop();
  });

  it("a start over HTTP is answered with 503 and leaves nothing", async () => {
    const server = await startServer({ teams: [teamOf({ instructions: "Work.", contract: check })] });
    const answer = await server.post("/v1/sessions", { team: "team", brief: "b" });
    expect([answer.status, (await answer.json()) as object]).toMatchObject([
      503,
      { code: "SANDBOX_UNAVAILABLE", advice: expect.stringContaining("bubblewrap") as string },
    ]);
    expect(await server.get("/v1/sessions")).toMatchObject({ total: 0 });
  });

  it("a person who allows it gets checks without a sandbox, and a notice", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ sandbox: "none" });
    const session = await maestro.start(teamOf({ instructions: "Work.", contract: check }), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.notices.join()).toMatch(/Checks run without a sandbox, with the network and all your files/);
    expect(readdirSync(join(place.stateDir, "scratch"))).toEqual([]);
  });
});

test.each([
  ["ID=debian", "sudo apt-get install bubblewrap"],
  ['ID=linuxmint\nID_LIKE="ubuntu debian"', "sudo apt-get install bubblewrap"],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"', "sudo dnf install bubblewrap"],
  ["ID=arch", "sudo pacman -S bubblewrap"],
  ["ID=alpine", "sudo apk add bubblewrap"],
  ["", "the package is named bubblewrap"],
])("the advice for a system with %j is its own way to install bubblewrap", (release, command) => {
  const [install, without] = sandboxAdvice(none, { platform: "linux", release });
  expect(install?.text).toBe(`Install bubblewrap: ${command}`);
  expect(without?.text).toContain("--sandbox none");
});

test("the advice for Windows is WSL, and for macOS Linux or no sandbox", () => {
  const advice = (platform: NodeJS.Platform) =>
    sandboxAdvice({ ...none, lacks: "platform" }, { platform, release: "" })
      .map(({ text }) => text)
      .join(" ");
  expect(advice("win32")).toMatch(/WSL/);
  expect(advice("win32")).not.toMatch(/--sandbox none/);
  expect(advice("darwin")).toMatch(/Linux.*--sandbox none/);
});
