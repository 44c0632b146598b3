import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Command, runCommand } from "../../../src/workspace/command.ts";
import { describeSandbox, detectSandbox } from "../../../src/workspace/sandbox.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const sandbox = await describeSandbox();

afterEach(() => vi.unstubAllEnvs());

/** A user's home, with a program in it and a key beside the program. */
function someHome(): string {
  const home = temporaryDirectory();
  chmodSync(home, 0o755);
  write(join(home, ".ssh", "key"), "the key");
  vi.stubEnv("HOME", home);
  return home;
}

function write(path: string, content: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function link(target: string, path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
  vi.stubEnv("PATH", `${process.env["PATH"]}:${dirname(path)}`);
  return path;
}

const run = (argv: readonly string[], more: Partial<Command> = {}, detect = describeSandbox) =>
  runCommand(
    {
      argv,
      directory: temporaryDirectory(),
      timeoutMs: 9000,
      maxOutputBytes: 10_000,
      signal: new AbortController().signal,
      network: false,
      writable: "workspace",
      ...more,
    },
    detect,
  );

describe.skipIf(sandbox.kind === "none")("a program in a user's home (needs bubblewrap)", () => {
  test("that is one file behind a link runs, and nothing else of the home is there", async () => {
    const home = someHome();
    const real = write(
      join(home, ".local/share/agent/versions/1.0"),
      `#!/bin/sh\necho "ran $*"; find "${home}" -type f -o -type l | sort`,
      0o755,
    );
    write(join(home, ".local/share/keyrings/secret"), "secret");
    const path = link(real, join(home, ".local/bin/agent"));
    const expected = { kind: "exited", code: 0, stdout: `ran -p\n${path}\n${real}\n` };
    expect(await run(["agent", "-p"])).toMatchObject(expected);
    expect(await run([path, "-p"])).toMatchObject(expected);
  });

  test("that npm installed finds its modules", async () => {
    const modules = join(someHome(), ".npm-global/lib/node_modules");
    const main = "#!/usr/bin/env node\nconsole.log(require('helper'), require('./own.js'))";
    const cli = write(join(modules, "@some/agent/cli.js"), main, 0o755);
    write(join(modules, "@some/agent/own.js"), "module.exports = 'own'");
    write(join(modules, "helper/index.js"), "module.exports = 'helped'");
    link(cli, join(modules, "../../bin/agent"));
    expect(await run(["agent"])).toMatchObject({ code: 0, stdout: "helped own\n" });
  });

  test("that Python installed in an environment of its own finds what belongs to it", async () => {
    const venv = join(someHome(), ".local/pipx/venvs/agent");
    write(join(venv, "pyvenv.cfg"), "home = /usr/bin");
    write(join(venv, "lib/part"), "part");
    const script = write(join(venv, "bin/agent"), `#!/bin/sh\ncat "${venv}/lib/part"`, 0o755);
    link(script, join(venv, "../../../bin/agent"));
    expect(await run(["agent"])).toMatchObject({ code: 0, stdout: "part" });
  });

  test("that is nowhere says so, and that trying again is no use", async () => {
    const expected = {
      kind: "not-started",
      permanent: true,
      reason: expect.stringContaining("not installed"),
    };
    expect(await run(["no-such-agent"])).toMatchObject(expected);
    expect(await run([join(someHome(), "no-such-agent")])).toMatchObject(expected);
  });
});

const kinds = [
  ["in bubblewrap (needs bubblewrap)", sandbox],
  ["without a sandbox", await detectSandbox([])],
] as const;

describe.each(kinds)("places outside of the workspace, %s", (name, kind) => {
  const skipped = name.startsWith("in") && kind.kind === "none";
  const sandbox = kind.kind === "none" ? "none" : "required";
  const here = (argv: readonly string[], more: Partial<Command>) =>
    run(argv, { sandbox, ...more }, async () => kind);

  test.skipIf(skipped)("of the home are found in the command's own home, and only those", async () => {
    const home = someHome();
    write(join(home, ".agent/login"), "logged in");
    const result = await here(["sh", "-c", 'cat "$HOME/.agent/login"; ls -A "$HOME"'], {
      readable: ["~/.agent", "~/.not-there"],
    });
    expect(result).toMatchObject({ kind: "exited" });
    expect("stdout" in result ? result.stdout : "").toMatch(/^logged in\.agent\n/);
    expect("stdout" in result ? result.stdout : "").not.toContain(".ssh");
  });

  test.skipIf(skipped)(
    "a file in a folder of the home is read, in a home that stays and in an empty one",
    async () => {
      const user = someHome();
      write(join(user, "settings/agent/login"), "logged in");
      const request = { readable: ["~/settings/agent/login"] };
      const argv = ["sh", "-c", 'cat "$HOME/settings/agent/login"; touch "$HOME/settings/own"'] as const;
      const expected = { kind: "exited", code: 0, stdout: "logged in" };
      expect(await here(argv, request)).toMatchObject(expected);
      expect(await here(argv, { ...request, home: temporaryDirectory() })).toMatchObject(expected);
    },
  );

  test.skipIf(skipped)("can be written only where that was said", async () => {
    const shared = temporaryDirectory();
    const [open, closed] = [join(shared, "open"), join(shared, "closed")];
    for (const folder of [shared, open, closed]) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o777);
    }
    await here(["sh", "-c", `echo 1 > ${open}/a; echo 1 > ${closed}/a`], {
      readable: [closed],
      writablePlaces: [open],
    });
    expect(readFileSync(join(open, "a"), "utf8")).toBe("1\n");
    expect(existsSync(join(closed, "a"))).toBe(kind.kind === "none");
  });

  test.skipIf(skipped)("a home that stays is there for the next command", async () => {
    const home = temporaryDirectory();
    await here(["sh", "-c", 'echo remembered > "$HOME/note"'], { home });
    expect(await here(["sh", "-c", 'cat "$HOME/note"'], { home })).toMatchObject({ stdout: "remembered\n" });
  });
});

test.skipIf(sandbox.kind === "none")(
  "state in a place that is shared stays hidden, under both names (needs bubblewrap)",
  async () => {
    const home = someHome();
    const state = join(home, "work/state");
    write(join(state, "maestro.db"), "secret");
    write(join(home, "work/notes"), "notes");
    const result = await run(["sh", "-c", `cat ~/work/notes; ls -A ~/work/state ${state}`], {
      readable: ["~/work"],
      writablePlaces: [join(home, "work")],
      hidden: [state],
    });
    expect("stdout" in result ? result.stdout : "").toContain("notes");
    expect("stdout" in result ? result.stdout : "maestro.db").not.toContain("maestro.db");
  },
);

describe.skipIf(sandbox.kind === "none")("the state directory (needs bubblewrap)", () => {
  function someState() {
    const home = someHome();
    const state = join(home, "state");
    const file = write(join(state, "maestro.db"), "secret");
    const program = write(join(state, "bin/tool"), `#!/bin/sh\ncat ${file}`, 0o755);
    const linked = join(home, "linked");
    symlinkSync(state, linked);
    return { home, state, file, program, linked };
  }

  test.each(["visible", "readable", "writablePlaces"] as const)(
    "is not opened by a path inside it: %s",
    async (key) => {
      const { state, file, linked } = someState();
      for (const path of [file, join(linked, "maestro.db")]) {
        const result = await run(["cat", path], { hidden: [state], [key]: [path] });
        expect(result).toEqual({
          kind: "not-started",
          permanent: true,
          reason: `${path} is in the state directory of Maestro, which programs may not see`,
          sandbox: "bubblewrap",
        });
      }
    },
  );

  test("has no programs", async () => {
    const { state, program, linked } = someState();
    for (const path of [program, join(linked, "bin/tool")])
      expect(await run([path], { hidden: [state] })).toMatchObject({
        kind: "not-started",
        reason: expect.stringContaining("state directory") as string,
      });
  });

  test("stays hidden in a folder that is shown through a link, and in the place of an installed program", async () => {
    const { home, state } = someState();
    const door = join(temporaryDirectory(), "door");
    symlinkSync(home, door);
    const shown = await run(["sh", "-c", `ls -A ${door}; ls -A ${door}/state`], {
      hidden: [state],
      visible: [door],
    });
    expect(shown).toMatchObject({ code: 0 });
    expect("stdout" in shown ? shown.stdout : "maestro.db").not.toContain("maestro.db");
    write(join(home, "pyvenv.cfg"), "home = /usr/bin");
    const program = write(join(home, "bin/agent"), `#!/bin/sh\nls -A ${home} ${state}`, 0o755);
    const installed = await run([program], { hidden: [state] });
    expect("stdout" in installed ? installed.stdout : "").toContain("pyvenv.cfg");
    expect("stdout" in installed ? installed.stdout : "maestro.db").not.toContain("maestro.db");
  });

  test("a program that may only be an installed one is not taken from another path", async () => {
    const home = someHome();
    const program = write(join(home, "app/bin/tool"), "#!/bin/sh\necho ran", 0o755);
    expect(await run([program], { onlyInstalled: true })).toMatchObject({ kind: "not-started" });
    vi.stubEnv("PATH", `${process.env["PATH"]}:${dirname(program)}`);
    expect(await run([program], { onlyInstalled: true })).toMatchObject({ code: 0, stdout: "ran\n" });
  });
});
