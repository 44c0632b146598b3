import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, type PersonaContext, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { readRecorded } from "../../crash/support/recorded.ts";
import { TeamPlace } from "./place.ts";

const sandbox = await describeSandbox();

type Shell = NonNullable<Extract<PersonaOptions, { shell?: unknown }>["shell"]>;
type RunCommand = (command: string | readonly string[], more?: object) => Promise<string>;

/** A function persona that runs commands; gives its session. */
async function session(
  work: (run: RunCommand, ctx: PersonaContext) => Promise<unknown>,
  more: { shell?: Shell; policy?: { write: string[] }; place?: TeamPlace } = {},
) {
  const { place = new TeamPlace(), ...keys } = more;
  const team = defineTeam("shell", {
    phases: [
      phase("tests", {
        personas: [
          persona("tester", {
            contract: { deliverables: ["test/a.test.js"] },
            run: async ({ workspace }) => {
              await workspace.write("test/a.test.js", "ok\n");
              return { summary: "tests" };
            },
          }),
        ],
      }),
      phase("work", {
        personas: [
          persona("dev", {
            ...keys,
            tools: ["*", "run_command"],
            run: async (ctx) => {
              const run: RunCommand = async (command, more = {}) => {
                const asked = typeof command === "string" ? { command } : { argv: command };
                return String(await ctx.tools["run_command"]?.execute({ ...asked, ...more }));
              };
              await work(run, ctx);
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });
  const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
  const started = await maestro.start(team, { brief: "x", key: "k" });
  const result = await started.result();
  return { place, maestro, result, files: await place.filesOf(maestro, started.id) };
}

describe.skipIf(sandbox.kind === "none")("a command of a persona", () => {
  test("runs in a shell or as a program, and its changes are the persona's", async () => {
    const said: string[] = [];
    const { result, files } = await session(async (run) => {
      said.push(await run("echo hello | tr a-z A-Z; mkdir -p out; echo made > out/a.txt"));
      said.push(await run(["cat", "out/a.txt"]));
      said.push(await run("echo wrong >&2; exit 3"));
    });
    expect(result.status).toBe("completed");
    expect(said[0]).toBe("The command ended with exit code 0; 1 file changed.\n<stdout>\nHELLO\n</stdout>");
    expect(said[1]).toContain("<stdout>\nmade\n</stdout>");
    expect(said[2]).toBe("The command ended with exit code 3; 0 files changed.\n<stderr>\nwrong\n</stderr>");
    expect(files).toEqual({ "out/a.txt": "made\n", "test/a.test.js": "ok\n" });
  });

  test("sees what other tools changed between commands, and keeps what is beside the files", async () => {
    const said: string[] = [];
    await session(async (run, ctx) => {
      await run("mkdir node_modules; echo x > node_modules/x; echo one > a.txt; echo gone > b.txt");
      await ctx.workspace.write("a.txt", "two\n");
      await ctx.workspace.remove("b.txt");
      await ctx.workspace.write("deep/c.txt", "three\n");
      said.push(await run("cat a.txt deep/c.txt node_modules/x; ls b.txt"));
    });
    expect(said[0]).toContain("two\nthree\nx\n");
    expect(said[0]).toContain("No such file");
  });

  test("has protected files and files outside policy.write put back, and is told so", async () => {
    const said: string[] = [];
    const { result, files } = await session(
      async (run) => {
        said.push(await run("echo hacked > test/a.test.js; mkdir src; echo b > src/b.txt; echo c > c.txt"));
        said.push(await run("cat test/a.test.js src/b.txt; ls c.txt"));
      },
      { policy: { write: ["src/**"] } },
    );
    expect(result.status).toBe("completed");
    expect(said[0]).toContain("c.txt: policy.write does not allow it");
    expect(said[0]).toContain("test/a.test.js: ");
    expect(said[1]).toContain("<stdout>\nok\nb\n</stdout>");
    expect(files).toEqual({ "src/b.txt": "b\n", "test/a.test.js": "ok\n" });
  });

  test("is cut in the middle for the model, and kept whole by its hash", async () => {
    const said: string[] = [];
    const { place } = await session(async (run) => {
      said.push(await run("seq 1 20000"));
    });
    expect(said[0]?.length).toBeLessThan(60_000);
    const whole = `${Array.from({ length: 20_000 }, (_, index) => index + 1).join("\n")}\n`;
    const hash = createHash("sha256").update(whole).digest("hex");
    const { rows } = await readRecorded(place.stateDir, "k");
    const row = rows.find(({ kind }) => kind === "step.tool");
    expect(row?.body).toContain(hash);
    expect(readdirSync(join(place.stateDir, "artifacts", hash.slice(0, 2)))).toContain(hash);
  });

  test("names failed tests as the readers of test output do", async () => {
    const said: string[] = [];
    await session(async (run, ctx) => {
      await ctx.workspace.write(
        "sum.test.mjs",
        'import { test } from "node:test";\nimport assert from "node:assert";\ntest("adds", () => assert.equal(1, 2));\n',
      );
      said.push(await run(["node", "--test", "sum.test.mjs"]));
    });
    expect(said[0]).toContain("exit code 1");
    expect(said[0]).toMatch(/Failures:\n- TEST.*adds/);
  });

  test("that does not end is ended, and its changes are not kept", async () => {
    const said: string[] = [];
    const { files } = await session(async (run) => {
      said.push(await run("echo half > half.txt; sleep 60", { timeoutMs: 300 }));
      said.push(await run("ls"));
    });
    expect(said[0]).toContain("was ended: it did not end within 300 ms. Its changes were not kept");
    expect(said[1]).not.toContain("half.txt");
    expect(files).toEqual({ "test/a.test.js": "ok\n" });
  });

  test("has no network by default, and gets the variables that the team names", async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    vi.stubEnv("COMMAND_SETTING", "set-for-commands");
    vi.stubEnv("COMMAND_SECRET_TOKEN", "canary-5f0a9d");
    onTestFinished(() => void vi.unstubAllEnvs());
    const get = `node -e 'fetch("http://127.0.0.1:${port}").then(r=>r.text()).then(console.log,()=>console.log("no network"))'`;
    const said: string[] = [];
    await session(async (run) => {
      said.push(await run(get), await run("env"));
    });
    expect(said[0]).toContain("no network");
    expect(said[1]).not.toMatch(/set-for-commands|canary/);
    const open: string[] = [];
    vi.stubEnv("COMMAND_MODE", "production");
    const shell = { network: true, env: ["COMMAND_SETTING", "COMMAND_MODE"] } as const;
    const echo = "echo $COMMAND_SETTING | rev; echo $COMMAND_SETTING in $COMMAND_MODE";
    await session(async (run) => open.push(await run(get), await run(echo)), { shell });
    expect(open[0]).toContain("reached");
    expect(open[1]).toContain("sdnammoc-rof-tes");
    expect(open[1], "a value is masked, and an ordinary word is not").toContain("[redacted] in production");
  });

  test("reaches only the hosts that the team lists", async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const get = (to: string) =>
      `curl -sS --max-time 5 ${to} 2>&1 || node --use-env-proxy -e 'fetch("${to}").then(r=>r.text()).then(console.log,()=>console.log("refused"))'`;
    const said: string[] = [];
    const shell = { network: [`127.0.0.1:${port}`] };
    await session(
      async (run) => {
        said.push(
          await run(
            `node --use-env-proxy -e 'fetch("http://127.0.0.1:${port}").then(r=>r.text()).then(console.log,console.log)'`,
          ),
        );
        said.push(await run(get("http://127.0.0.1:1")));
      },
      { shell },
    );
    expect(said[0]).toContain("reached");
    expect(said[1]).not.toContain("reached");
    expect(said[1]).toContain("Hosts that it may not reach:\n- 127.0.0.1:1 is not in the list of hosts");
  });

  test("is replayed from its record with its changes after an interruption", async () => {
    const place = new TeamPlace();
    const seen: string[] = [];
    const recorded = Promise.withResolvers<void>();
    const team = defineTeam("interrupted", {
      phases: [
        phase("work", {
          personas: [
            persona("dev", {
              tools: ["run_command"],
              run: async (ctx) => {
                await ctx.tools["run_command"]?.execute({ command: "date +%N > when.txt" });
                seen.push(await ctx.workspace.readText("when.txt"));
                recorded.resolve();
                if (seen.length === 1)
                  await new Promise((_, reject) => ctx.signal.addEventListener("abort", reject));
                const { execute } = ctx.tools["run_command"] ?? {};
                return { summary: String(await execute?.({ command: "cat when.txt" })) };
              },
            }),
          ],
        }),
      ],
    });
    const first = await place.open();
    await first.start(team, { brief: "x", key: "k" });
    await recorded.promise;
    await first.close();
    const second = await place.open({ teams: [team] });
    const result = await (await second.resume("k")).result();
    expect(seen[1]).toBe(seen[0]);
    expect(result.results["work"]?.["dev"]?.summary).toContain(seen[0]);
    expect(readdirSync(join(place.stateDir, "scratch"))).toEqual([]);
  });
});

test("a shell without run_command is an error of the team", () => {
  expect(() =>
    defineTeam("t", {
      phases: [phase("p", { personas: [persona("dev", { instructions: "x", shell: { network: true } })] })],
    }),
  ).toThrow("shell has no effect: tools does not name run_command.");
});
