import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { allCalls } from "../../contract/ledger-support.ts";
import { expectAsIfNothingHappened } from "./expectations.ts";
import { asOnlooker } from "./onlooker.ts";
import type { Place } from "./place.ts";
import type { Program } from "./program.ts";
import { openStore, rowsOf } from "./recorded.ts";
import type { Scenario } from "./scenarios.ts";
import { until } from "./until.ts";
import type { Wish } from "./wish.ts";

/** Personas that conflict or wait for others; no finished one runs again. */
export const merged = (...hits: number[]): Scenario => ({ team: "crew", hits });
/** The same team, for its contracts. */
export const checked = merged;
export const delegated = (...hits: number[]): Scenario => ({ team: "delegate", hits });

/** Copies of a killed process for a program are removed at the next open. */
export const copied = (team: "crew" | "outsourced" | "installed", ...hits: number[]): Scenario => ({
  team,
  hits,
  recover: async (place, { undisturbed }) => {
    const scratch = join(place.stateDir, "scratch");
    const copies = () => [scratch, join(scratch, "kept")].flatMap(namesIn).filter((name) => name !== "kept");
    await place.afterlife(place.drive(team), team);
    await expectAsIfNothingHappened(place, team, undisturbed);
    await asOnlooker(place, () => until("the copies are gone", () => copies().length === 0));
  },
});

/** The files of a repository are stored before the session exists, and its personas work on them. */
export const sourced: Scenario = {
  team: "based",
  hits: [1],
  get options() {
    return onRepository();
  },
};

/** Each of its checks is measured on those files first, one after the other. */
export const measured: Scenario = {
  team: "based",
  hits: [1, 2],
  get options() {
    return onRepository();
  },
};

let repository: string | undefined;

function onRepository() {
  repository ??= makeRepository();
  return { repo: repository };
}

/** Delivered to a branch and a remote: killed around either, both end with the same commits, recorded once. */
export const deliveredBranch: Scenario = {
  team: "based",
  hits: [1],
  get options() {
    return { ...onRepository(), deliver: { branch: "maestro/{id}", push: "origin" } };
  },
  recover: async (place, { undisturbed }) => {
    const { recorded } = await place.afterlife(place.drive("based", deliveredBranch.options), "based");
    await expectAsIfNothingHappened(place, "based", undisturbed);
    const [row, ...others] = rowsOf(recorded, "session.delivered");
    expect(others, "recorded once").toEqual([]);
    expect(row).toMatchObject({ remote: "origin", commits: [expect.any(String), expect.any(String)] });
    expect(row?.failures).toBeUndefined();
    const folder = repository as string;
    const at = (where: string) =>
      execFileSync("git", ["-C", where, "rev-parse", `refs/heads/${row?.branch}`], {
        encoding: "utf8",
      }).trim();
    expect([at(folder), at(join(folder, "remote.git"))]).toEqual([
      row?.commits?.at(-1),
      row?.commits?.at(-1),
    ]);
  },
};

function makeRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-crash-repository-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  git("init", "--quiet");
  for (const name of ["a", "b", "src/c"]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${name}\n`.repeat(1_000));
  }
  git("add", "--all");
  git(
    "-c",
    "user.name=A person",
    "-c",
    "user.email=person@example.org",
    "commit",
    "--quiet",
    "--message",
    "start",
  );
  git("init", "--quiet", "--bare", "remote.git");
  git("remote", "add", "origin", "./remote.git");
  return folder;
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Where two branches meet. */
export const decided: Scenario = {
  team: "branches",
  hits: [1],
  recover: async (place, { undisturbed }) => {
    const life = await place.afterlife(place.drive("branches"), "branches");
    await expectAsIfNothingHappened(place, "branches", undisturbed);
    expect(rowsOf(life.recorded, "decision.recorded"), "decided once").toMatchObject([
      { phase: "meet", title: "Which version of both.md" },
    ]);
  },
};

/** A simulated model: every recorded answer is paid once, and a lost one is estimated. */
export const imagined = (...hits: number[]): Scenario => ({
  team: "novel",
  hits,
  recover: async (place, { point, undisturbed }) => {
    const life = await place.afterlife(place.drive("novel"), "novel");
    await expectAsIfNothingHappened(place, "novel", undisturbed);
    const answers = life.recorded.rows.filter(({ kind }) => kind === "step.model").map(() => "settled");
    const lost = point === "step.model:before-commit" ? ["estimated"] : [];
    expect(await statusesOfCalls(place, "novel")).toEqual([...lost, ...answers]);
  },
});

/** A person selects phases. */
export const directed: Scenario = {
  team: "shop",
  hits: [1],
  victim: (place, fault) => place.wish("shop", untilBuilt, { fault }),
  recover: async (place, { isCommitted, undisturbed }) => {
    // A recorded selection also holds for a recovery; otherwise the person has to repeat it.
    const next = isCommitted ? place.recover("shop") : place.wish("shop", untilBuilt);
    await until(
      "it has gone so far",
      async () => (await place.recorded("shop")).session?.status === "paused",
    );
    if (isCommitted) await next.end();
    const { recorded } = await place.afterlife(next, "shop");
    expect(rowsOf(recorded, "session.directed")).toEqual([{ kind: "session.directed", until: "build" }]);
    expect(rowsOf(recorded, "phase.started").map(({ phase }) => phase)).toEqual(["needs", "build"]);
    await place.afterlife(place.drive("shop"), "shop");
    await expectAsIfNothingHappened(place, "shop", undisturbed);
  },
};

/** A person accepts another definition during the session. */
export const accepted: Scenario = {
  team: "shop",
  hits: [1],
  before: built,
  story: { name: "shop, changed", key: "shop", tell: acceptChange },
  recover: async (place, { isCommitted, undisturbed }) => {
    const { session } = await place.recorded("shop");
    expect(session?.teamFingerprint === place.lives[0]?.recorded.session?.teamFingerprint).toBe(!isCommitted);
    if (isCommitted) {
      // The session has the new team, so nothing has to be accepted again.
      const rescuer = place.recover("shop", { isChanged: true });
      await until("it is done", async () => (await place.recorded("shop")).session?.status === "completed");
      await rescuer.end();
    }
    const { recorded } = await place.afterlife(acceptChange(place), "shop");
    await expectAsIfNothingHappened(place, "shop", undisturbed);
    expect(rowsOf(recorded, "team.changed"), "changed once").toHaveLength(1);
    const ran = rowsOf(recorded, "attempt.started").map(({ persona }) => persona);
    expect(ran.slice(5), "who reads something else now").toEqual(["frontend", "tester"]);
  },
};

/** A person edits the result of a phase. */
export const edited: Scenario = {
  team: "shop",
  hits: [1],
  before: built,
  story: { name: "shop, edited", key: "shop", tell: editBuild },
  recover: async (place, { isCommitted, life, undisturbed }) => {
    expect(rowsOf(life.recorded, "phase.edited")).toHaveLength(isCommitted ? 1 : 0);
    // The caller cannot know whether the edit was recorded, and repeats it.
    const { recorded } = await place.afterlife(editBuild(place), "shop");
    await expectAsIfNothingHappened(place, "shop", undisturbed);
    const sealed = rowsOf(recorded, "checkpoint.sealed").map(({ phase, revision }) => `${phase} ${revision}`);
    expect(sealed).toEqual(["needs 1", "build 1", "build 2", "test 1"]);
  },
};

/** A person resumes with a note. */
export const noted: Scenario = {
  team: "shop",
  hits: [1],
  before: built,
  victim: (place, fault) => tellShop(place, fault),
  recover: async (place, { isCommitted, life, undisturbed }) => {
    expect(rowsOf(life.recorded, "session.noted")).toHaveLength(isCommitted ? 1 : 0);
    // The caller cannot know whether the note was recorded, and repeats it.
    const { recorded } = await place.afterlife(tellShop(place), "shop");
    await expectAsIfNothingHappened(place, "shop", undisturbed);
    expect(rowsOf(recorded, "session.noted").map(({ note }) => note)).toEqual(["Mind the till."]);
  },
};

/** A fork with an edit: killed while it is created, or while it runs. */
export const forked = (...hits: number[]): Scenario => ({
  team: "shop",
  hits,
  before: async (place) => {
    await place.afterlife(place.drive("shop"), "shop");
    place.forget();
  },
  story: { name: "shop, forked", key: "fork", tell: forkWithEdit },
  recover: async (place, { life, undisturbed }) => {
    const { session } = life.recorded;
    if (session?.status === "queued") await expectNotDrivenByItself(place);
    // A fork is created in one transaction: it exists completely, or is created again.
    const next =
      session === undefined ? forkWithEdit(place) : place.wish("shop", { do: "resume", session: session.id });
    await place.afterlife(next, "fork");
    await expectAsIfNothingHappened(place, "fork", undisturbed);
    const { phases } = await asOnlooker(place, (maestro) => maestro.show("fork"));
    const statuses = phases.flatMap(({ personas }) =>
      personas.map(({ name, status }) => `${name} ${status}`),
    );
    expect(statuses).toEqual([
      "api_analyst reused",
      "page_analyst reused",
      "backend completed",
      "database completed",
      "frontend reused",
      "tester completed",
    ]);
  },
});

const untilBuilt: Wish = { do: "start", until: "build" };

function acceptChange(place: Place, fault?: ArmedFault): Program {
  const wish = { do: "resume", session: "shop", acceptChanges: true } as const;
  return place.wish("shop", wish, { isChanged: true, fault });
}

function editBuild(place: Place, fault?: ArmedFault): Program {
  const build = { outputs: { backend: { read: "something else" } }, files: { "src/api.js": "edited\n" } };
  return place.wish("shop", { do: "resume", session: "shop", edits: { build } }, { fault });
}

function tellShop(place: Place, fault?: ArmedFault): Program {
  return place.wish("shop", { do: "resume", session: "shop", note: "Mind the till." }, { fault });
}

function forkWithEdit(place: Place, fault?: ArmedFault): Program {
  const needs = {
    outputs: { api_analyst: { read: "something else" } },
    files: { "docs/api.md": "edited\n" },
  };
  const fork = { do: "fork", session: "shop", key: "fork", at: "build", edits: { needs } } as const;
  return place.wish("shop", fork, { fault });
}

async function built(place: Place): Promise<void> {
  await place.afterlife(place.wish("shop", untilBuilt), "shop");
}

/** A recovery does not drive a fork that no person has resumed. */
async function expectNotDrivenByItself(place: Place): Promise<void> {
  const rescuer = place.recover("shop");
  await until("the recovery has looked at the session", () => rescuer.isReady && !place.isDriven());
  await rescuer.end();
  expect((await place.recorded("fork")).session?.status).toBe("queued");
}

async function statusesOfCalls({ stateDir }: Place, key: string): Promise<string[]> {
  const store = openStore(stateDir);
  try {
    const session = await store.findSession(key);
    const calls = session === undefined ? [] : await allCalls(store, session.id);
    return calls.map(({ status }) => status).sort();
  } finally {
    await store.close();
  }
}
