import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../src/index.ts";
import { maestro, temporaryFolder } from "./support/maestro.ts";

type EventOf<Kind> = Extract<SessionEvent, { readonly kind: Kind }>;

const stumblingTeam = join(import.meta.dirname, "support/stumbling-team.ts");
const failingTeam = join(import.meta.dirname, "support/failing-team.ts");
/** Timers may fire less than a millisecond early, and recorded times are whole milliseconds. */
const timerMs = 1;

function eventsIn(stdout: string): SessionEvent[] {
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as SessionEvent);
}

const ofKind = <Kind extends SessionEvent["kind"]>(events: readonly SessionEvent[], kind: Kind) =>
  events.filter((event): event is EventOf<Kind> => event.kind === kind);

/** The recorded waits, each with the time until the next attempt began. */
function waitsIn(events: readonly SessionEvent[]) {
  const started = ofKind(events, "attempt.started");
  return ofKind(events, "attempt.failed").flatMap(({ next, notBefore, waitMs, seq }) => {
    if (notBefore === null) return [];
    const follower = started.find((attempt) => attempt.seq > seq);
    return { kind: next, waitMs, earlyMs: Date.parse(notBefore) - Date.parse(follower?.at ?? "") };
  });
}

test("a persona that fails twice is retried after the configured waits", async () => {
  const at = ["--state-dir", join(temporaryFolder(), "state")];
  const { code, stdout } = await maestro(["run", "x", "--team", stumblingTeam, "--json", ...at], {
    MAESTRO_L1_BASE_DELAY_MS: "200",
    MAESTRO_L1_MAX_DELAY_MS: "450",
  });
  expect(code).toBe(0);
  const events = eventsIn(stdout);
  expect(ofKind(events, "attempt.started").map(({ round, attempt }) => [round, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
  ]);
  const waits = waitsIn(events);
  expect(waits.map(({ kind }) => kind)).toEqual(["attempt", "attempt"]);
  expect(waits[0]?.waitMs).toBeGreaterThanOrEqual(200);
  expect(waits[0]?.waitMs).toBeLessThanOrEqual(300);
  expect(waits[1]?.waitMs).toBeGreaterThanOrEqual(400);
  expect(waits[1]?.waitMs).toBeLessThanOrEqual(600);
  for (const { earlyMs } of waits) expect(earlyMs).toBeLessThanOrEqual(timerMs);
  expect(events.at(-1)).toMatchObject({
    kind: "result",
    status: "completed",
    results: { only: { worker: { summary: "draft 3 is good" } } },
  });
});

test("a persona that always fails parks for help with exit code 4, a ticket and a command that grants one new set of rounds", async () => {
  const folder = temporaryFolder();
  const stateDir = join(folder, "state");
  const waits = {
    MAESTRO_L1_BASE_DELAY_MS: "20",
    MAESTRO_L1_MAX_DELAY_MS: "40",
    MAESTRO_L2_BASE_DELAY_MS: "300",
  };
  const run = await maestro(
    ["run", "x", "--team", failingTeam, "--key", "k", "--state-dir", stateDir],
    waits,
  );
  expect(run.code).toBe(4);
  expect(run.stdout).toContain("is parked (help)");
  const url = /^Ticket: (file:\S+) \(delivered\)$/m.exec(run.stderr)?.[1] ?? "";
  const ticket = readFileSync(fileURLToPath(url), "utf8");
  const [, command = ""] = /^Resume with: maestro ((?:resume (\w+)).*)$/m.exec(run.stderr) ?? [];
  expect(ticket).toContain("maestro resume ");
  expect(ticket).toContain("the answer is wrong");

  const resumed = await maestro([...command.split(" "), "--json"], waits);
  expect(resumed.code).toBe(4);
  const events = eventsIn(resumed.stdout);
  const granted = ofKind(events, "attempt.started").map(({ round, attempt }) => [round, attempt]);
  expect(granted).toEqual([
    [3, 1],
    [3, 2],
    [3, 3],
    [4, 1],
    [4, 2],
    [4, 3],
  ]);
  const rounds = waitsIn(events).filter(({ kind }) => kind === "round");
  expect(rounds).toMatchObject([{ waitMs: 300 }]);
  for (const { earlyMs } of waitsIn(events)) expect(earlyMs).toBeLessThanOrEqual(timerMs);
  expect(events.at(-1)).toMatchObject({ kind: "result", status: "parked", reason: "help" });
  expect(readdirSync(join(stateDir, "tickets")), "the same problem is the same ticket").toHaveLength(1);
});
