import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { PaidModels } from "../support/paid-models.ts";
import { packageFolder, place, read } from "./support/packed.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");

/** The first code block of a language after a heading. */
function block(heading: string, language: string): string {
  const section = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  return new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\`\n`).exec(section)?.[1] ?? "";
}

test("the README's team has twenty lines, and its commands run it to completion with the simulated model", () => {
  const { folder, env } = place({ MAESTRO_MODEL: "simulated" });
  const team = block("Use it", "yaml");
  expect(team.split("\n").filter((line) => !line.startsWith("#"))).toHaveLength(20);
  writeFileSync(join(folder, "team.yaml"), team);
  const entry = join(packageFolder, "bin/maestro.cjs");
  // npx is replaced by the packed command, because the package is not installed here.
  const script = block("Use it", "sh").replaceAll(/^npx.*$/gm, '$&\necho "ended with $?"');
  const said = execFileSync(
    "bash",
    ["-c", `npx() { shift; "${process.execPath}" "${entry}" "$@"; }\n${script}`],
    {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: "pipe",
    },
  );
  expect(said.match(/ended with \d+/g)).toEqual(["ended with 4", "ended with 0", "ended with 0"]);
  expect(said).toMatch(/is parked \(review\)[^]*is completed[^]*Together: /);
  expect(read({ folder, env }, "parking/docs/design.md")).toContain("# ");
});

test("the README's program runs unchanged, and its second run fetches nothing", () => {
  const { folder, env } = place();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/maestro-hive"));
  const program = block("Use it from code", "js");
  writeFileSync(join(folder, "rows.mjs"), program);
  const run = (file: string): string =>
    execFileSync(process.execPath, [file], { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  expect(run("rows.mjs")).toContain("status: 'completed'");
  const broken = program.replace(
    /^const fetchRows = .*$/m,
    'const fetchRows = () => { throw new Error("again"); };',
  );
  writeFileSync(join(folder, "again.mjs"), broken);
  expect(run("again.mjs")).toContain("status: 'completed'");
});

describe("the README's program of the AI SDK", () => {
  const lines = block("Use it from code", "diff").split("\n");
  const programOf = (left: string): string =>
    lines.flatMap((line) => (line.startsWith(left) ? [] : [line.slice(1)])).join("\n");
  const [plain, durable] = [programOf("+"), programOf("-")];

  /** The installed packages, a provider on loopback, and a way to run a program. */
  async function desk() {
    const paid = await PaidModels.start(({ number }) => ({ text: `text ${number}` }));
    onTestFinished(() => paid.close());
    const { folder, env } = place(paid.server.env);
    mkdirSync(join(folder, "node_modules/@ai-sdk"), { recursive: true });
    symlinkSync(packageFolder, join(folder, "node_modules/maestro-hive"));
    for (const name of ["ai", "@ai-sdk/openai"])
      symlinkSync(join(packageFolder, "node_modules", name), join(folder, "node_modules", name));
    const run = async (program: string) => {
      writeFileSync(join(folder, "guide.mjs"), program);
      const child = spawn(process.execPath, ["guide.mjs"], { cwd: folder, env });
      paid.onAnswer = ({ number }) => killAt === number && child.kill("SIGKILL");
      let out = "";
      let errors = "";
      child.stdout.on("data", (chunk) => (out += chunk));
      child.stderr.on("data", (chunk) => (errors += chunk));
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      return { out, errors, code, signal };
    };
    let killAt: number | undefined;
    return { paid, run, killAt: (number: number | undefined) => (killAt = number) };
  }

  test("differs from a plain one in at most three lines", () => {
    const [before, after] = [plain.split("\n"), durable.split("\n")];
    const added = after.filter((line) => !before.includes(line));
    const removed = before.filter((line) => !after.includes(line));
    expect(added.length).toBe(lines.filter((line) => line.startsWith("+")).length);
    expect(removed.length).toBe(lines.filter((line) => line.startsWith("-")).length);
    expect(added.length).toBeGreaterThan(0);
    expect(Math.max(added.length, removed.length)).toBeLessThanOrEqual(3);
  });

  test("runs without Maestro as it stands", async () => {
    const { paid, run } = await desk();
    const { out, errors, code } = await run(plain);
    expect([code, errors]).toEqual([0, ""]);
    expect(out).toBe("text 4\n\ntext 1\n\ntext 2\n\ntext 3\n");
    expect(paid.log).toHaveLength(4);
  });

  test("is killed during its third call, and a second run pays for no recorded answer; a third one asks nothing", async () => {
    const { paid, run, killAt } = await desk();
    killAt(3);
    expect(await run(durable)).toMatchObject({ out: "", signal: "SIGKILL" });
    expect(paid.log).toHaveLength(3);
    killAt(undefined);
    const second = await run(durable);
    expect([second.code, second.errors]).toEqual([0, ""]);
    // The third call was under way, so it is made again; the first two are not.
    expect(second.out).toBe("text 5\n\ntext 1\n\ntext 2\n\ntext 4\n");
    const asked = Map.groupBy(paid.log, ({ hash }) => hash);
    expect([...asked.values()].map((calls) => calls.length)).toEqual([1, 1, 2, 1]);
    expect(await run(durable)).toMatchObject({ out: second.out, code: 0 });
    expect(paid.log).toHaveLength(5);
  });
});

test("the README's picture of the demo shows its key and every line of its summary", () => {
  const picture = readFileSync(join(import.meta.dirname, "../../docs/images/demo.svg"), "utf8").replaceAll(
    "\u00a0",
    " ",
  );
  const source = readFileSync(join(import.meta.dirname, "../../src/cli/commands/demo.ts"), "utf8");
  const labels = [...source.matchAll(/yield `( {2}[a-z]+(?: [a-z]+)* +)/g)].map(([, label = ""]) => label);
  expect(labels).toHaveLength(7);
  for (const label of labels) expect(picture).toContain(`>${label}`);
  expect(picture).toContain("npx maestro-hive resume demo --state-dir ");
});
