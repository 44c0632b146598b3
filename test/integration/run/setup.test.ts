import { existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { defineTeam, type Json, persona, phase, type TeamOptions } from "../../../src/index.ts";
import { TestRepository } from "../repository/test-repository.ts";
import { TeamPlace } from "./place.ts";

const shell = (name: string, script: string) => ({ name, run: ["sh", "-c", script] });
const fixture = (name: string): string =>
  readFileSync(new URL(`setup-package/${name}`, import.meta.url), "utf8");

/** A repository whose lock is one file; a setup copies it, and `count` says how often it ran. */
function locked(text = "one\n") {
  const repository = new TestRepository().write("lock.txt", text);
  repository.commit();
  return repository;
}

const copies = {
  run: ["sh", "-c", "mkdir deps && cp lock.txt deps/ && date +%N > deps/stamp && echo installed"],
  inputs: ["lock.txt"],
  keep: ["deps"],
};

interface Work {
  readonly setup?: TeamOptions<string>["setup"];
  readonly checks?: readonly { readonly name: string; readonly run: readonly string[] }[];
  readonly work?: Parameters<TeamPlace["work"]>[1];
  readonly mayChange?: readonly string[];
}

const team = (place: TeamPlace, { setup, checks = [], work, mayChange = [] }: Work) =>
  defineTeam("builders", {
    ...(setup !== undefined && { setup }),
    phases: [
      phase("build", {
        personas: [
          persona("dev", { run: place.work("dev", work), mayChange, maxAttempts: 1, contract: { checks } }),
        ],
      }),
    ],
  });

const layersIn = (place: TeamPlace): string[] => {
  const folder = join(place.stateDir, "layers");
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name)) : [];
};

test("packages of a lockfile are installed from the registry before the first call, and a second session needs no network", async () => {
  const repository = new TestRepository();
  for (const name of ["package.json", "package-lock.json"]) repository.write(name, fixture(name));
  repository.write("a.js", "import isNumber from 'is-number'; if (!isNumber(5)) process.exit(1);\n").commit();
  const place = new TeamPlace();
  const maestro = await place.open();
  const checks = [
    { name: "runs", run: ["node", "a.js"] },
    shell(
      "writes",
      "test ! -e node_modules/x && touch node_modules/x && echo bad > node_modules/is-number/index.js",
    ),
    { name: "runs-again", run: ["node", "a.js"] },
  ];
  const source = { git: repository.folder };
  const first = await maestro.start(team(place, { checks }), { brief: "one", source });
  expect(await first.result()).toMatchObject({ status: "completed" });
  expect((await maestro.show(first.id)).setup).toMatchObject([
    { run: ["npm", "ci"], status: "prepared", foundBy: "package-lock.json", scripts: "on" },
  ]);
  expect(layersIn(place)).toHaveLength(1);
  expect(await place.filesOf(maestro, first.id), "modules are not delivered").not.toHaveProperty(
    "node_modules/is-number/index.js",
  );
  // No registry answers any more; no other file than manifest and lockfile counts.
  repository.write("b.js", "changed\n").commit();
  vi.stubEnv("npm_config_registry", "http://127.0.0.1:9/");
  const second = await maestro.start(team(place, { checks }), { brief: "two", source });
  expect(await second.result()).toMatchObject({ status: "completed" });
  expect((await maestro.show(second.id)).setup).toMatchObject([{ status: "reused" }]);
  vi.unstubAllEnvs();
}, 120_000);

test("packages of a lockfile in a folder are installed there, without a setup in the team", async () => {
  const repository = new TestRepository();
  for (const name of ["package.json", "package-lock.json"]) repository.write(`web/${name}`, fixture(name));
  repository.write("web/a.js", "import isNumber from 'is-number'; if (!isNumber(5)) process.exit(1);\n");
  repository.commit();
  const place = new TeamPlace();
  const maestro = await place.open();
  const checks = [shell("runs", "cd web && node a.js")];
  const source = { git: repository.folder };
  const session = await maestro.start(team(place, { checks }), { brief: "one", source });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect((await maestro.show(session.id)).setup).toMatchObject([
    { run: ["npm", "ci"], status: "prepared", foundBy: "web/package-lock.json", scripts: "on" },
  ]);
}, 120_000);

test("a setup that fails parks the session before a persona works, with its output, and a resume tries again", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const repository = locked();
  vi.stubEnv("DEPLOY_TOKEN", "canary-value-1234");
  const failing = {
    ...copies,
    env: ["DEPLOY_TOKEN"],
    run: ["sh", "-c", "echo no packages, $DEPLOY_TOKEN; exit 3"],
  };
  const session = await maestro.start(team(place, { setup: failing }), {
    brief: "x",
    source: { git: repository.folder },
  });
  const ended = await session.result().catch((error: unknown) => error);
  expect(JSON.stringify(ended)).not.toContain("canary-value");
  const view = await maestro.show(session.id);
  expect(view).toMatchObject({ status: "parked", reason: "setup", error: { code: "SETUP_FAILED" } });
  expect(JSON.stringify(view.error)).toContain("no packages, [redacted]");
  expect(place.ran).toEqual([]);
  const [{ output } = { output: null }] = view.setup;
  expect(String(await maestro.artifact(session.id, output ?? ""))).toContain("no packages, [redacted]");
  await (await maestro.resume(session.id)).result().catch(() => undefined);
  expect((await maestro.show(session.id)).reason).toBe("setup");
  expect(place.ran).toEqual([]);
  vi.unstubAllEnvs();
});

/** A package whose own script decides what is installed. */
const scripted = (installs: string) =>
  new TestRepository()
    .write(
      "package.json",
      JSON.stringify({ name: "a", version: "1.0.0", scripts: { postinstall: "node own.js" } }),
    )
    .write(
      "package-lock.json",
      JSON.stringify({
        name: "a",
        version: "1.0.0",
        lockfileVersion: 3,
        packages: { "": { name: "a", version: "1.0.0", hasInstallScript: true } },
      }),
    )
    .write(
      "own.js",
      `const fs = require("fs"); fs.mkdirSync("node_modules"); fs.writeFileSync("node_modules/what", "${installs}");`,
    );

/** A script of the team's own, that is no input. */
const bootstrapped = (installs: string) =>
  locked().write("own.sh", `mkdir deps && printf ${installs} > deps/what`);

test.each([
  ["a script of the package", scripted, {}, "node_modules/what"],
  ["a file that is no input", bootstrapped, { setup: { ...copies, run: ["sh", "own.sh"] } }, "deps/what"],
])("%s puts nothing into the dependencies of another repository", async (_, repository, more, what) => {
  const place = new TeamPlace();
  const maestro = await place.open();
  for (const installs of ["evil", "good"]) {
    const made = repository(installs);
    made.commit();
    const checks = [shell("own", `test "$(cat ${what})" = ${installs}`)];
    const source = { git: made.folder };
    const session = await maestro.start(team(place, { ...more, checks }), { brief: installs, source });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const again = await maestro.start(team(place, { ...more, checks }), {
      brief: `${installs} again`,
      source,
    });
    expect(await again.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(again.id)).setup).toMatchObject([{ status: "reused" }]);
  }
  expect(layersIn(place)).toHaveLength(2);
});

test("a setup sees of a persona's changes its inputs alone", async () => {
  const place = new TeamPlace();
  const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
  const repository = bootstrapped("base");
  repository.commit();
  const session = await maestro.start(
    team(place, {
      setup: { ...copies, run: ["sh", "own.sh"] },
      mayChange: ["lock.txt", "own.sh"],
      work: async ({ workspace }) => {
        await workspace.write("lock.txt", "two\n");
        await workspace.write("own.sh", "mkdir deps && printf evil > deps/what");
      },
      checks: [shell("base", 'test "$(cat deps/what)" = base')],
    }),
    { brief: "x", source: { git: repository.folder } },
  );
  expect(await session.result()).toMatchObject({ status: "completed" });
});

test("two sessions that begin at once install the same dependencies once", async () => {
  const place = new TeamPlace();
  const [one, other] = [await place.open(), await place.open()];
  const source = { git: locked().folder };
  const slow = { ...copies, run: ["sh", "-c", "sleep 1; mkdir deps; date +%N > deps/stamp"] };
  const checks = [shell("has", "test -s deps/stamp")];
  const sessions = await Promise.all(
    [one, other].map((maestro, number) =>
      maestro.start(team(place, { setup: slow, checks }), { brief: String(number), source }),
    ),
  );
  const results = await Promise.all(sessions.map((session) => session.result()));
  expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
  const outcomes = await Promise.all(sessions.map(async ({ id }) => (await one.show(id)).setup[0]?.status));
  expect(new Set(outcomes)).toEqual(new Set(["prepared", "reused"]));
});

test("a persona that may change the inputs gets another layer, made without install scripts", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const setup = {
    ...copies,
    run: ["sh", "-c", 'mkdir deps && cp lock.txt deps/ && echo "$npm_config_ignore_scripts" > deps/scripts'],
  };
  const session = await maestro.start(
    team(place, {
      setup,
      mayChange: ["lock.txt"],
      work: ({ workspace }) => workspace.write("lock.txt", "two\n"),
      checks: [shell("new", "grep -q two deps/lock.txt && grep -q true deps/scripts")],
    }),
    { brief: "x", source: { git: locked().folder } },
  );
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect((await maestro.show(session.id)).setup.map(({ scripts }) => scripts)).toEqual(["on", "off"]);
});

test("a persona without mayChange cannot choose other dependencies", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const session = await maestro.start(
    team(place, {
      setup: copies,
      work: ({ workspace }) => workspace.write("lock.txt", "two\n"),
      checks: [shell("base", "grep -q one lock.txt && grep -q one deps/lock.txt")],
    }),
    { brief: "x", source: { git: locked().folder } },
  );
  expect(await session.result()).toMatchObject({ status: "completed" });
  const { phases, setup } = await maestro.show(session.id);
  expect(phases[0]?.personas[0]?.attempts[0]?.putBack?.files.map(({ path }) => path)).toEqual(["lock.txt"]);
  expect(setup).toHaveLength(1);
});

/** Files that are not in the repository, and that a setup gets beside those that are. */
const withSecrets = (settings: string) => {
  const repository = locked();
  repository.write(".env.test", settings);
  return { git: repository.folder, checksOnly: [".env.test"] };
};

test("a setup gets the files of checksOnly: they are masked in its output, and change what it is kept under", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const setup = {
    ...copies,
    run: ["sh", "-c", '. ./.env.test; echo "asks with $TOKEN"; mkdir deps; printf %s "$NAME" > deps/name'],
  };
  for (const [name, token] of [
    ["first", "canary-value-one"],
    ["second", "canary-value-two"],
  ] as const) {
    const checks = [shell("name", `grep -q ${name} deps/name`)];
    const source = withSecrets(`NAME=${name}\nTOKEN=${token}\n`);
    const session = await maestro.start(team(place, { setup, checks }), { brief: name, source });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const [{ output } = { output: null }] = (await maestro.show(session.id)).setup;
    expect(String(await maestro.artifact(session.id, output ?? ""))).toBe("asks with [redacted]\n");
  }
  expect(layersIn(place)).toHaveLength(2);
});

test("a setup that leaves a copy of a checksOnly file in a kept folder fails, and no layer is kept", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const setup = { ...copies, run: ["sh", "-c", "mkdir -p deps/conf && cp .env.test deps/conf/env"] };
  const source = withSecrets("TOKEN=canary-value-three\n");
  const session = await maestro.start(team(place, { setup }), { brief: "x", source });
  await session.result().catch(() => undefined);
  const view = await maestro.show(session.id);
  expect(view).toMatchObject({ status: "parked", reason: "setup" });
  expect(view.error?.message).toContain('left a copy of ".env.test" in "deps"');
  expect(layersIn(place)).toEqual([]);
});

test("a command of the team's own has no network for inputs that a persona changed", async () => {
  const { createServer } = await import("node:http");
  const heard: string[] = [];
  const server = createServer((request, answer) => {
    heard.push(request.url ?? "");
    answer.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const script = `const lock = require("fs").readFileSync("lock.txt", "utf8").trim(); fetch("http://127.0.0.1:${port}/" + lock).then(() => require("fs").mkdirSync("deps"))`;
  const place = new TeamPlace();
  const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
  const session = await maestro.start(
    team(place, {
      setup: { ...copies, run: [process.execPath, "-e", script], network: [`127.0.0.1:${port}`] },
      mayChange: ["lock.txt"],
      work: ({ workspace }) => workspace.write("lock.txt", "the-files\n"),
      checks: [shell("any", "true")],
    }),
    { brief: "x", source: { git: locked().folder } },
  );
  await session.result().catch(() => undefined);
  server.close();
  expect(heard).toEqual(["/one"]);
  const view = await maestro.show(session.id);
  expect(JSON.stringify(view.error as unknown as Json)).toContain(
    "It had no network, because a persona changed",
  );
});

test("inputs of a persona that cannot be installed fail its check, and not the session's set-up", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const setup = {
    ...copies,
    run: ["sh", "-c", "grep -q one lock.txt || { echo unknown package; exit 1; }; mkdir deps"],
  };
  const session = await maestro.start(
    team(place, {
      setup,
      mayChange: ["lock.txt"],
      work: ({ workspace }) => workspace.write("lock.txt", "two\n"),
      checks: [shell("any", "true")],
    }),
    { brief: "x", source: { git: locked().folder } },
  );
  await session.result().catch(() => undefined);
  const view = await maestro.show(session.id);
  expect(view).toMatchObject({ status: "parked", reason: "help" });
  expect(JSON.stringify(view.error as unknown as Json)).toContain("ended with exit code 1");
});

test("a damaged layer is made again", async () => {
  const place = new TeamPlace();
  const source = { git: locked().folder };
  const checks = [shell("has", "grep -q one deps/lock.txt")];
  const first = await place.open();
  await (await first.start(team(place, { setup: copies, checks }), { brief: "1", source })).result();
  await first.close();
  const [key = ""] = layersIn(place);
  truncateSync(join(place.stateDir, "layers", key, "0", "lock.txt"));
  const second = await place.open();
  const session = await second.start(team(place, { setup: copies, checks }), { brief: "2", source });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect((await second.show(session.id)).setup).toMatchObject([{ status: "prepared" }]);
});

test("a setup reaches no address of this machine unless the team lists it", async () => {
  const { createServer } = await import("node:http");
  const server = createServer((_, answer) => answer.end("inside"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const script = `fetch("http://127.0.0.1:${port}/").then(async (got) => { const text = await got.text(); require("fs").mkdirSync("deps"); if (text !== "inside") process.exit(5); })`;
  const place = new TeamPlace();
  const maestro = await place.open();
  const run = [process.execPath, "-e", script];
  const outcome = async (network: true | string[]) => {
    const setup = { ...copies, run, network };
    const session = await maestro.start(team(place, { setup }), {
      brief: String(network),
      source: { git: locked(String(network)).folder },
    });
    await session.result().catch(() => undefined);
    return (await maestro.show(session.id)).status;
  };
  expect(await outcome(true)).toBe("parked");
  expect(await outcome([`127.0.0.1:${port}`])).toBe("completed");
  server.close();
});

test("the launches of a state directory are one user", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const session = await maestro.start(
    team(place, {
      setup: { ...copies, run: ["sh", "-c", "mkdir deps && id -u > deps/uid"] },
      checks: [shell("same", 'test "$(id -u)" = "$(cat deps/uid)"')],
    }),
    { brief: "x", source: { git: locked().folder } },
  );
  expect(await session.result()).toMatchObject({ status: "completed" });
});

test("a command of a persona has what the setup installed, and its changes there are not kept", async () => {
  const repository = locked("one\n");
  const place = new TeamPlace();
  const maestro = await place.open();
  const said: string[] = [];
  const shellTeam = defineTeam("shell", {
    setup: copies,
    phases: [
      phase("work", {
        personas: [
          persona("dev", {
            maxAttempts: 1,
            tools: ["run_command"],
            run: async ({ tools }) => {
              const run = async (command: string) =>
                said.push(String(await tools["run_command"]?.execute({ command })));
              await run(
                "cat deps/lock.txt; cp deps/lock.txt made.txt; echo changed > deps/lock.txt; echo x > deps/new",
              );
              await run("cat made.txt");
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });
  const results = [];
  for (const brief of ["first", "second"]) {
    const session = await maestro.start(shellTeam, { brief, source: { git: repository.folder } });
    results.push((await session.result()).status);
    const files = await place.filesOf(maestro, session.id);
    expect(files).toEqual({ "lock.txt": "one\n", "made.txt": "one\n" });
  }
  expect(results).toEqual(["completed", "completed"]);
  // The second session got the layer as it was installed, and not as the first one left it.
  expect(said.map((each) => each.includes("one\n"))).toEqual([true, true, true, true]);
  expect(layersIn(place)).toHaveLength(1);
});
