import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { begin, inTerminal, json, lines, maestro, type Place, place } from "./support/packed.ts";

/** A team of two phases, and a simulated model that takes its time. */
async function prepared(latencyMs: number, more: Record<string, string> = {}): Promise<Place> {
  const at = place(more);
  const script = join(at.folder, "script.json");
  writeFileSync(script, JSON.stringify({ latencyMs }));
  const made = await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting,reply");
  expect(made).toMatchObject({ code: 0 });
  return { ...at, env: { ...at.env, MAESTRO_SIMULATED_SCRIPT: script } };
}

const run = ["run", "Say hello to everybody", "--team", "hello.yaml", "--key", "hello"];

test("run in a terminal: a tree that fills up, then how it ended, what it cost and how to have the files", async () => {
  const at = await prepared(300);
  const seen = await inTerminal(at, [100, 30], run, [
    { when: "▶ greeting_author" },
    { when: "▶ reply_author" },
  ]);
  expect(seen).toMatchObject({ code: 0, stepsLeft: 0, colored: true, cursorHidden: false, wrapped: 0 });
  expect(seen.seen[0]?.join("\n")).toMatch(
    /▶ greeting[^]*▶ greeting_author[^]*○ reply[^]*Ctrl-C stops cleanly/,
  );
  expect(seen.seen[1]?.join("\n")).toMatch(/✔ greeting greeting_author[^]*▶ reply/);
  const text = seen.lines.join("\n");
  expect(text).toMatch(/completed · 1\.\dk tokens · \$0\.\d+ at invented prices/);
  expect(text).toMatch(/Session [0-9a-z]{26} is completed\./);
  expect(text).toContain("maestro show hello --out <folder>");
  expect(text.match(/✔ greeting /g), "one picture, painted over").toHaveLength(1);
});

test.each([
  [40, 15],
  [20, 6],
])("on %d x %d the picture neither wraps nor scrolls", async (columns, rows) => {
  const at = await prepared(200);
  const { seen, lines: all } = await inTerminal(at, [columns, rows], run, [
    { when: "▶ greeting" },
    { when: "▶ reply" },
  ]);
  expect(seen[1]?.length).toBeLessThanOrEqual(rows);
  const text = all.join("\n");
  expect(text.match(/hello · simulated/g)?.length ?? 0).toBeLessThanOrEqual(1);
  expect(text).toContain("completed");
});

test("NO_COLOR: the same picture without a color; TERM=dumb and no terminal: lines", async () => {
  const colorless = await inTerminal(await prepared(100, { NO_COLOR: "1" }), [80, 24], run);
  expect(colorless).toMatchObject({ code: 0, colored: false });
  expect(colorless.lines.join("\n")).toContain("✔ greeting");
  const dumb = await inTerminal(await prepared(100, { TERM: "dumb" }), [80, 24], run);
  expect(dumb).toMatchObject({ code: 0, colored: false });
  expect(dumb.lines.join("\n")).toMatch(/^greeting: sealed revision 1, [0-9a-f]{12}$/m);
  const piped = await maestro(await prepared(0), ...run);
  expect(piped.stdout + piped.stderr).not.toContain("\u001b");
  expect(piped.stderr).toMatch(/^reply: sealed revision 1, [0-9a-f]{12}$/m);
  expect(lines(piped.stdout).at(-1)).toMatch(/^Session [0-9a-z]{26} is completed\.$/);
});

test("a terminal that becomes narrower while it is painted is not left with rubbish", async () => {
  const at = await prepared(700);
  const { lines: all, code } = await inTerminal(at, [100, 30], run, [
    { when: "▶ greeting_author", resize: [50, 20] },
  ]);
  expect(code).toBe(0);
  expect(
    all.filter((line) => line.includes("reply_author ·") || line.startsWith("✔ reply")).length,
  ).toBeLessThanOrEqual(2);
});

test("Ctrl-C stops cleanly, prints the resume command, exits 130; the resume pays for nothing again", async () => {
  const at = await prepared(800);
  const stopped = await inTerminal(at, [100, 30], run, [{ when: "reply_author · asks", send: "\u0003" }]);
  expect(stopped).toMatchObject({ code: 130, cursorHidden: false });
  const text = stopped.lines.join("\n");
  expect(text).toContain(
    "Stopping: the current step has a few seconds to finish. Press Ctrl-C again to stop now.",
  );
  expect(text).toContain("Nothing is lost:");
  expect(text).toContain("Resume with: maestro resume hello");
  const before = await json<{ status: string; usage: { calls: number } }>(at, "show", "hello");
  expect(before.status).toBe("paused");
  const resumed = await inTerminal(at, [100, 30], ["resume", "hello"], [{ when: "reply_author · asks" }]);
  expect(resumed).toMatchObject({ code: 0, stepsLeft: 0 });
  const underWay = resumed.seen[0]?.join("\n");
  expect(underWay, "it works, whatever it did before").not.toContain("paused");
  expect(underWay).toMatch(/Ctrl-C stops cleanly/);
  expect(resumed.lines.join("\n")).toMatch(/not paid again/);
  const after = await json<{ usage: { calls: number } }>(at, "show", "hello");
  expect(after.usage.calls).toBe(4);
});

test("watch shows a session of another process to its end, and its Ctrl-C does not stop the session", async () => {
  const at = await prepared(3_000);
  const detached = await json<{ id: string; pid: number }>(at, ...run, "--detach");
  const left = await inTerminal(at, [80, 24], ["watch", "hello"], [{ when: "▶ greeting", send: "\u0003" }]);
  expect(left.code).toBe(130);
  expect(left.lines.join("\n")).toContain("The session keeps running.");
  const watched = await inTerminal(at, [80, 24], ["watch", detached.id.slice(0, 20)]);
  expect(watched.code).toBe(0);
  expect(watched.lines.join("\n")).toMatch(/completed · /);
});

test("watch does not wait for a process that died", async () => {
  const at = await prepared(20_000);
  const { pid } = await json<{ pid: number }>(at, ...run, "--detach");
  const watching = begin(at, ["watch", "hello"]);
  await vi.waitUntil(() => watching.output().includes("greeting_author: attempt started"), {
    timeout: 120_000,
  });
  process.kill(pid, "SIGKILL");
  const { code, stderr } = await watching.finished;
  expect(code).toBe(4);
  expect(stderr).toContain("Its process is gone. Nothing is lost");
  expect(stderr).toContain("Resume with: maestro resume hello");
});

test("init asks in a terminal and writes a team that runs", async () => {
  const at = place();
  const asked = await inTerminal(
    at,
    [80, 24],
    ["init"],
    [
      { when: "Name of the team\\?", send: "crew\r" },
      { when: "Its phases", send: "plan,make\r" },
      { when: "Model \\(", send: "\r" },
    ],
  );
  expect(asked).toMatchObject({ code: 0, stepsLeft: 0 });
  expect(await maestro(at, "run", "x", "--team", "crew.yaml")).toMatchObject({ code: 0 });
});
