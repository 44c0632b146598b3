import { existsSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import type { Maestro } from "../../../src/api/open.ts";
import type { ArmedFault, FaultPoint } from "../../../src/store/fault-points.ts";
import { endingOf, expectAsIfNothingHappened, expectTidyFiles, type Undisturbed } from "./expectations.ts";
import { asOnlooker, minutesLater } from "./onlooker.ts";
import { open } from "./package.ts";
import type { DriveChoices, Life, Place } from "./place.ts";
import type { Program } from "./program.ts";
import { rowsOf } from "./recorded.ts";
import { dependency, type TeamName } from "./teams.ts";
import { until } from "./until.ts";

/** How a process reaches a fault point and dies there, and what must hold afterwards. */
export interface Scenario {
  readonly team: TeamName;
  /** The hits of the point at which the process is killed. */
  readonly hits: readonly number[];
  /** Options of every driver of this scenario. */
  readonly options?: DriveChoices;
  /** Prepares the state directory. */
  readonly before?: (place: Place) => Promise<void>;
  /** The process that is killed; a driver of the team by default. */
  readonly victim?: (place: Place, fault: ArmedFault) => Program;
  /** Replaces driving the team's session to its end. */
  readonly story?: Story;
  /** Actions from outside that lead to the point. */
  readonly meanwhile?: (place: Place) => Promise<void>;
  /** Instead of driving the session to its end and comparing. */
  readonly recover?: (place: Place, killed: Killed) => Promise<void>;
}

export interface Story {
  readonly name: string;
  /** The key of the session. */
  readonly key: string;
  /** The action, by a process that is killed or by one that is not. */
  readonly tell: (place: Place, fault?: ArmedFault) => Program;
}

export interface Killed {
  readonly point: FaultPoint;
  readonly isCommitted: boolean;
  readonly life: Life;
  readonly undisturbed: Undisturbed;
}

const twoDaysLater = { laterMs: 2 * 24 * 3_600_000 };
const foundation = "builder, attempt 1: foundation";
const foundationIsLaid = (place: Place) =>
  until("the foundation is on record", async () => (await place.recorded("patient")).marks.has(foundation));

export const everyday = (...hits: number[]): Scenario => ({ team: "everyday", hits });
export const long: Scenario = { team: "long", hits: [1] };

/** Waits at the door until the first renewal of its lease. */
export const beaten: Scenario = { team: "patient", hits: [1], options: { leaseMs: 1_000 } };

export const paused: Scenario = {
  team: "patient",
  hits: [1],
  meanwhile: async (place) => {
    await foundationIsLaid(place);
    await asOnlooker(place, (maestro) => maestro.pause("patient"));
  },
};

/** Kills the process that sends the signal, not the driver. */
export const said: Scenario = {
  team: "patient",
  hits: [1],
  before: async (place) => {
    place.drive("patient");
    await foundationIsLaid(place);
  },
  victim: (place, fault) => place.act({ do: "pause", session: "patient" }, fault),
  recover: async (place, { isCommitted, undisturbed }) => {
    const received = async () => rowsOf(await place.recorded("patient"), "signal.received");
    if (isCommitted) await until("the driver has received it", async () => (await received()).length === 1);
    place.openDoor();
    const status = isCommitted ? "paused" : "completed";
    await until(
      `the session is ${status}`,
      async () => (await place.recorded("patient")).session?.status === status,
    );
    await place.programs[0]?.ended;
    await place.afterlife(place.drive("patient"), "patient");
    await expectAsIfNothingHappened(place, "patient", undisturbed);
    expect(await received(), "received once or not at all").toHaveLength(isCommitted ? 1 : 0);
  },
};

export const restored: Scenario = {
  team: "patient",
  hits: [1],
  before: async (place) => {
    const driver = place.drive("patient");
    await foundationIsLaid(place);
    await driver.end();
    place.loseDatabase();
  },
  recover: async (place, { undisturbed }) => {
    place.openDoor();
    const life = await place.afterlife(place.drive("patient"), "patient");
    expect(endingOf(life)).toEqual(undisturbed.ending);
    // The finished phase is kept; the unfinished one runs again.
    expect(place.marks).toEqual([
      "planner, attempt 1: measure",
      "planner, attempt 1: draw",
      foundation,
      foundation,
      "builder, attempt 1: walls",
      "inspector, attempt 1: report",
    ]);
    expect(rowsOf(life.recorded, "session.restored")).toHaveLength(1);
    await expectTidyFiles(place, "patient");
  },
};

export const diverged: Scenario = {
  team: "fickle",
  hits: [1],
  before: async (place) => {
    const noteIsRecorded = { point: "step.function:after-commit", hit: 3, act: "kill" } as const;
    await place.drive("fickle", { fault: noteIsRecorded }).ended;
    place.openDoor();
  },
  recover: async (place, { undisturbed }) => {
    const life = await place.afterlife(place.drive("fickle"), "fickle");
    expect(endingOf(life)).toEqual(undisturbed.ending);
    // The changed step runs again, and so do the steps recorded after it.
    const again = ["asker, attempt 1: ask", "asker, attempt 1: note"];
    expect(place.marks).toEqual(["asker, attempt 1: listen", ...again, ...again]);
    expect(rowsOf(life.recorded, "attempt.diverged")).toHaveLength(1);
    expect(rowsOf(life.recorded, "attempt.started")).toHaveLength(1);
    await expectTidyFiles(place, "fickle");
  },
};

/** The first call opens the breaker, the next three are probes that fail, the fifth is answered. */
export const outage = (...hits: number[]): Scenario => ({
  team: "dependent",
  hits,
  options: { breaker: { threshold: 1, cooldownMs: 200 } },
  recover: async (place, { undisturbed }) => {
    const breaker = { threshold: 1, cooldownMs: 20 };
    await place.afterlife(place.drive("dependent", { breaker, ...minutesLater }), "dependent");
    await expectAsIfNothingHappened(place, "dependent", undisturbed);
    await asOnlooker(place, async (maestro) => {
      const [breaker] = await maestro.breakers();
      expect(breaker).toMatchObject({ dependency, record: { state: { kind: "closed", failures: 0 } } });
      await maestro.deliverTickets();
      // No ticket if the service was back before it was raised.
      const statuses = (await maestro.tickets()).map(({ status }) => status);
      expect(["", "delivered"]).toContain(statuses.join());
      expect(ticketFiles(place)).toHaveLength(statuses.length);
    });
  },
});

/** A closed breaker admits without a commit; the first call here is refused, the second is the probe. */
export const probed: Scenario = {
  ...outage(1, 2),
  recover: async (place, killed) => {
    const [breaker] = await asOnlooker(place, (maestro) => maestro.breakers());
    const isProbe = rowsOf(killed.life.recorded, "dependency.waiting").length > 0;
    expect(breaker?.record.state.kind).toBe(isProbe && killed.isCommitted ? "half-open" : "open");
    await outage().recover?.(place, killed);
  },
};

export const breakerReset: Scenario = {
  ...outage(1),
  before: async (place) => {
    const fault = { point: "dependency.waiting:after-commit", hit: 1, act: "kill" } as const;
    await place.afterlife(place.drive("dependent", { ...outage().options, fault }), "dependent");
  },
  victim: (place, fault) => place.act({ do: "reset breaker", dependency }, fault),
  recover: async (place, killed) => {
    const left = await asOnlooker(place, (maestro) => maestro.breakers());
    expect(left).toHaveLength(killed.isCommitted ? 0 : 1);
    await outage().recover?.(place, killed);
  },
};

/** The process that signs a browser in or out is killed; the login is as before or as asked, and never in between. */
const login = (
  act: "sign in" | "renew login" | "sign out",
  expected: { readonly before: number | undefined; readonly after: number | undefined },
): Scenario => ({
  ...everyday(1),
  before: async (place) => {
    if (act !== "sign in") await place.act({ do: "sign in", hash: "hash" }).ended;
  },
  victim: (place, fault) => place.act({ do: act, hash: "hash" }, fault),
  recover: async (place, { isCommitted }) => {
    const found = await asOnlooker(place, (maestro) => maestro.access.logins.find("hash"));
    expect(found?.expiresAt).toBe(isCommitted ? expected.after : expected.before);
  },
});
export const signedIn = login("sign in", { before: undefined, after: 10_000 });
export const renewedLogin = login("renew login", { before: 10_000, after: 20_000 });
export const signedOut = login("sign out", { before: 10_000, after: undefined });

/** The process that changes users is killed; they are as before or as asked. */
const person = (
  act: "add user" | "redeem link" | "revoke user" | "note act",
  look: (access: Maestro["access"]) => Promise<boolean>,
): Scenario => ({
  ...everyday(1),
  before: async (place) => {
    if (act !== "add user") await place.act({ do: "add user" }).ended;
  },
  victim: (place, fault) => place.act({ do: act }, fault),
  recover: async (place, { isCommitted }) => {
    expect(await asOnlooker(place, (maestro) => look(maestro.access))).toBe(isCommitted);
  },
});
export const addedUser = person("add user", async ({ users }) => (await users.named("ada")) !== undefined);
export const redeemedLink = person(
  "redeem link",
  async ({ users }) => (await users.redeem("hash")) === undefined,
);
export const revokedUser = person("revoke user", async ({ users }) => (await users.list()).length === 0);
export const notedAct = person(
  "note act",
  async ({ trail }) => (await trail.list({ limit: 9 })).length === 1,
);

/** Every attempt fails: the session parks for help, and the ticket becomes a file. */
export const help: Scenario = {
  team: "hopeless",
  hits: [1],
  recover: async (place, { point, isCommitted, life, undisturbed }) => {
    const isParked = life.recorded.session?.status === "parked";
    expect(isParked).toBe(point !== "ticket.raised:before-commit");
    const ofTheDead = await asOnlooker(place, (maestro) => maestro.tickets());
    expect(ofTheDead, "with the parking or not at all").toHaveLength(isParked ? 1 : 0);
    if (point.startsWith("ticket.settled"))
      expect(ofTheDead[0]?.status).toBe(isCommitted ? "delivered" : "posting");

    const rescuer = place.recover("hopeless", minutesLater);
    await asOnlooker(place, (maestro) =>
      until("the ticket is delivered", async () => (await maestro.tickets())[0]?.status === "delivered"),
    );
    await until("the files are finished", () =>
      expectTidyFiles(place, "hopeless").then(
        () => true,
        () => false,
      ),
    );
    await rescuer.end();
    const { session } = await place.recorded("hopeless");
    expect(session).toMatchObject({ status: "parked", reason: "help" });
    expect(place.marks, "nothing is tried again").toEqual(undisturbed.marks);
    const tickets = await asOnlooker(place, (maestro) => maestro.tickets());
    expect(ticketFiles(place)).toEqual(tickets.map(({ fingerprint }) => `${fingerprint}.md`));
    expect(tickets).toHaveLength(1);
  },
};

/** More or fewer rows than one transaction of a deletion removes. */
export const pruned = (team: "long" | "everyday", ...hits: number[]): Scenario => ({
  team,
  hits,
  before: async (place) => {
    endingOf(await place.afterlife(place.drive(team), team));
  },
  victim: (place, fault) => place.act({ do: "prune everything" }, fault),
  recover: async (place, { undisturbed }) => {
    await asOnlooker(place, expectWholeOrNothing);
    await asOnlooker(place, async (maestro) => {
      await maestro.prune({ keep: 0 });
      expect(await maestro.sessions()).toEqual([]);
      expect(await maestro.lostSessions()).toEqual([]);
    });
    expect(rowsLeft(place), "nothing is left behind").toEqual({ sessions: 0, journal: 0, journal_index: 0 });
    expect(readdirSync(join(place.stateDir, "sessions"))).toEqual([]);
    if (team === "long") return;
    // The key is free again, so the same start creates a new session.
    const again = await place.afterlife(place.drive(team), team);
    expect(endingOf(again)).toEqual(undisturbed.ending);
    expect(new Set(again.marks)).toEqual(new Set(undisturbed.marks));
  },
});

/** A prune was killed with the files set aside and the rows still there; the next one puts them back first. */
export const putBack: Scenario = {
  ...pruned("everyday", 1),
  before: async (place) => {
    endingOf(await place.afterlife(place.drive("everyday"), "everyday"));
    const fault = { point: "session.aside:after-rename", hit: 1, act: "kill" } as const;
    await place.act({ do: "prune everything" }, fault).ended;
    expect(readdirSync(join(place.stateDir, "sessions")).join()).toMatch(/\.pruned$/);
  },
};

/** A prune when the unreferenced artifacts are old enough. */
export const prunedLater: Scenario = {
  ...pruned("everyday", 1),
  victim: (place, fault) => place.act({ do: "prune everything", ...twoDaysLater }, fault),
  recover: async (place) => {
    const root = join(place.stateDir, "artifacts");
    const left = () => readdirSync(root).flatMap((folder) => readdirSync(join(root, folder)));
    expect(left()).toHaveLength(1);
    await asOnlooker(place, (maestro) => maestro.prune({ keep: 0 }), twoDaysLater);
    expect(left()).toEqual([]);
  },
};

/** A database that is lost later is noticed, whether or not the comparison was remembered. */
export const compared: Scenario = {
  ...pruned("everyday", 1),
  before: async (place) => {
    endingOf(await place.afterlife(place.drive("everyday"), "everyday"));
    // A folder that changed just now is not remembered.
    const before = new Date(Date.now() - 60_000);
    utimesSync(join(place.stateDir, "sessions"), before, before);
  },
  victim: (place, fault) => place.act({ do: "export", session: "everyday", file: exportOf(place) }, fault),
  recover: async (place) => {
    await asOnlooker(place, expectWholeOrNothing);
    await expectTidyFiles(place, "everyday");
    place.loseDatabase();
    const notices: string[] = [];
    const maestro = await open({ stateDir: place.stateDir, onNotice: (notice) => notices.push(notice) });
    await maestro.close();
    expect(notices.join()).toContain("1 session has files but is not in the database");
  },
};

/** A prune removes a finished session together with its delivered ticket. */
export const forgotten: Scenario = {
  team: "hopeless",
  hits: [1],
  before: async (place) => {
    await place.afterlife(place.drive("hopeless"), "hopeless");
    await asOnlooker(place, (maestro) => maestro.cancel("hopeless"));
    expect(ticketFiles(place)).toHaveLength(1);
  },
  victim: (place, fault) => place.act({ do: "prune everything" }, fault),
  recover: async (place, { isCommitted }) => {
    await asOnlooker(place, async (maestro) => {
      expect(await maestro.sessions()).toEqual([]);
      expect(await maestro.tickets()).toHaveLength(isCommitted ? 0 : 1);
      await maestro.prune({ keep: 0 });
      expect(await maestro.tickets()).toEqual([]);
    });
    expect(ticketFiles(place)).toEqual([]);
  },
};

/** An export is complete or does not exist, and the session is unchanged. */
export const exported: Scenario = {
  team: "everyday",
  hits: [1],
  before: async (place) => {
    endingOf(await place.afterlife(place.drive("everyday"), "everyday"));
  },
  victim: (place, fault) => place.act({ do: "export", session: "everyday", file: exportOf(place) }, fault),
  recover: async (place, { point }) => {
    expect(existsSync(exportOf(place))).toBe(point === "export:after-rename");
    await asOnlooker(place, (maestro) => maestro.exportCheckpoints("everyday", exportOf(place)));
    const elsewhere = { stateDir: join(place.stateDir, "..", "elsewhere") };
    await asOnlooker(elsewhere, (maestro) => maestro.importCheckpoints(exportOf(place)));
    expect(await asOnlooker(elsewhere, (maestro) => maestro.sessions())).toHaveLength(1);
    await expectTidyFiles(place, "everyday");
  },
};

/** An import is whole or was never there, and what was recorded with it is its trust. */
export const imported: Scenario = {
  team: "everyday",
  hits: [1],
  before: async (place) => {
    endingOf(await place.afterlife(place.drive("everyday"), "everyday"));
    await asOnlooker(place, async (maestro) => {
      await maestro.exportCheckpoints("everyday", exportOf(place));
      await maestro.prune({ keep: 0 });
    });
  },
  victim: (place, fault) => place.act({ do: "import and trust", file: exportOf(place) }, fault),
  recover: async (place, { isCommitted }) => {
    await asOnlooker(place, async (maestro) => {
      expect(await maestro.sessions()).toHaveLength(isCommitted ? 1 : 0);
      expect(await maestro.lostSessions()).toEqual([]);
      if (!isCommitted) await maestro.importCheckpoints(exportOf(place), { trust: true });
      expect(await maestro.show("everyday")).toMatchObject({
        status: "completed",
        imported: { trusted: true },
      });
    });
    endingOf(await place.afterlife(place.drive("everyday"), "everyday"));
    await expectTidyFiles(place, "everyday");
  },
};

function exportOf({ stateDir }: Place): string {
  return join(stateDir, "..", "session.export");
}

/** A listed session can be shown completely; one that is not listed cannot be resumed either. */
async function expectWholeOrNothing(maestro: Maestro): Promise<void> {
  expect(await maestro.lostSessions(), "offered for resuming").toEqual([]);
  for (const { id } of await maestro.sessions())
    expect(await maestro.show(id), "listed, so whole").toMatchObject({ status: "completed" });
}

function ticketFiles({ stateDir }: Place): string[] {
  const folder = join(stateDir, "tickets");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function rowsLeft({ stateDir }: Place): Record<string, unknown> {
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { readOnly: true });
  try {
    const tables = ["sessions", "journal", "journal_index"];
    const count = (table: string) =>
      database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"];
    return Object.fromEntries(tables.map((table) => [table, count(table)]));
  } finally {
    database.close();
  }
}
