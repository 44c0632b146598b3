import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Maestro, type OpenOptions, open, type SessionEvent, type Team } from "../../src/index.ts";
import { png } from "../../test/support/attachments.ts";
import { hostileKey, hostileText } from "./hostile.ts";
import { PacedClock } from "./paced-clock.ts";
import { breakerCooldownMs, retryDelayMs } from "./settings.ts";
import { deliveryTeam, openapi } from "./teams/delivery.ts";
import { docsTeam } from "./teams/docs.ts";
import { busyMs, outageTeam, productTeam } from "./teams/product.ts";
import { securityTeam } from "./teams/security.ts";
import tiles from "./teams/tiles.ts";
import translation, { translatedAtOnce } from "./teams/translation.ts";
import { minuteMs } from "./work.ts";

const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** One second of seeding counts as this many. */
const pace = 500;
const openaiWaitMs = 9.5 * minuteMs;

/** Fills an empty state directory with sessions that ran until they reached the state they show. */
export async function seed(stateDir: string): Promise<void> {
  const clock = new PacedClock(pace);
  await seedStopped(stateDir, clock);
  await seedRunning(stateDir, clock);
}

/** One list a day; the last day is yesterday. */
const finished: readonly (readonly (readonly [key: string, brief: string])[])[] = [
  [["permit-renewal", "Renew resident permits online, priced in EUR"]],
  [["plate-search", "Find a car by its plate; fines in EUR"]],
  [["tariff-import", "Import the city's tariffs in EUR"]],
  [
    ["ev-chargers", "Show free chargers and their price in EUR"],
    ["garage-map", "A map of garages with prices in EUR"],
  ],
];

async function seedStopped(stateDir: string, clock: PacedClock): Promise<void> {
  const delivery = deliveryTeam(clock.work);
  const docs = docsTeam(clock.work);
  const security = securityTeam(clock.work);
  const maestro = await openSeed(stateDir, clock, [delivery, docs, security, outageTeam, tiles], {
    breaker: { cooldownMs: breakerCooldownMs, threshold: 1 },
  });
  const startedMs = Date.now();
  const moveBack = (ageMs: number) => clock.moveTo(startedMs - ageMs);
  const run = async (team: Team, key: string, brief: string, options: object = {}) =>
    (await maestro.start(team, { key, brief, ...options })).result();

  for (const [index, sessions] of finished.entries()) {
    moveBack((finished.length - index) * dayMs);
    await Promise.all(sessions.map(([key, brief]) => run(delivery, key, brief)));
  }
  moveBack(7 * hourMs);
  const { id } = await run(tiles, "map-tiles-cache", "Cache map tiles at the edge");
  await run(delivery, "zone-editor", "An editor for parking zones in EUR", { until: "requirements" });
  await maestro.cancel("zone-editor");
  await run(delivery, "tariff-engine", "Tariffs that change by hour and by zone, in EUR", {
    until: "design",
  });
  moveBack(6 * hourMs);
  await run(delivery, hostileKey, hostileText);
  moveBack(5 * hourMs);
  await run(delivery, "ledger-migration", "Move the ledger to integer cents of EUR", {
    // Less is left than the least output of the last call costs, so the call is not made with a smaller one.
    budget: { usd: 1.71 },
  });
  moveBack(4 * hourMs);
  await run(docs, "onboarding-copy", "Rewrite the first-run screens in plain words", {
    pauseAfter: ["draft"],
  });
  moveBack(3 * hourMs);
  await run(delivery, "parking-payments", "Card payments and refunds in €", { budget: { usd: 15 } });
  moveBack(hourMs);
  const edits = { design: { files: { "design/openapi.yaml": openapi("EUR") } } };
  await maestro.fork("parking-payments", { at: "implementation", key: "parking-payments-fork", edits });
  await (await maestro.resume("parking-payments-fork")).result();
  // Its probe comes due when the longest wait of a session has almost passed.
  moveBack(breakerCooldownMs - openaiWaitMs);
  await run(outageTeam, "openai-outage", "Ask a model that is down");
  await maestro.cancel("openai-outage");
  moveBack(10 * minuteMs);
  await run(security, "threat-model-q4", "Threat model of the public API");
  await maestro.deliverTickets();
  await maestro.close();
  const poor = await openSeed(stateDir, clock, [docs], { budget: { dayUsd: 0.2 } });
  await (await poor.start(docs, { key: "roadmap-2027", brief: "The roadmap of 2027" })).result();
  await poor.close();
  damageDesign(join(stateDir, "sessions", id));
}

/** Changes a sealed checkpoint, as a failing disk would. */
function damageDesign(folder: string): void {
  const name = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) =>
    /design.*\.json$/.test(path),
  );
  const path = join(folder, name ?? "");
  writeFileSync(path, readFileSync(path, "utf8").replace("one cache a region", "one cache a planet"));
}

/** Leaves sessions in the middle of their work. The server takes them over. */
async function seedRunning(stateDir: string, clock: PacedClock): Promise<void> {
  const product = productTeam(clock.work);
  const docs = docsTeam(clock.work);
  const milestones = new Milestones();
  const maestro = await openSeed(stateDir, clock, [product, docs, translation], {
    attempts: { timeoutMs: dayMs, baseDelayMs: retryDelayMs, maxDelayMs: retryDelayMs },
    onEvent: (event) => milestones.see(event),
  });
  clock.moveTo(Date.now() - 29 * minuteMs);
  const parking = { key: "parking-1", brief: "A parking app for one city" };
  const attachments = [
    { name: "garage-level-2.png", content: png(240, 120) },
    { name: "questions.txt", content: "Who pays for lost tickets?\n" },
  ];
  await (await maestro.start(product, { ...parking, attachments, until: "design" })).result();
  // Two of its personas begin to wait at the end of these minutes.
  clock.moveTo(Date.now() - busyMs);
  await maestro.start(product, parking);
  await milestones.reached("dependency.waiting security_specialist");
  await milestones.reached("attempt.failed frontend_developer");
  await milestones.reached("attempt.completed ui_ux_designer");
  await milestones.reached("text backend_developer");
  await maestro.start(docs, { key: "release-notes-2026-11", brief: "Release notes from the merged changes" });
  await milestones.reached("text editor");
  await maestro.start(translation, {
    key: "translation-all",
    brief: "Translate the app into every language",
  });
  await milestones.reached("attempt.completed", translatedAtOnce);
  await maestro.queue(docs, { key: "nightly-docs-0341", brief: "Nightly check of the documentation" });
  await maestro.close();
}

/** Counts events by kind, and by kind and persona. */
class Milestones {
  readonly #counts = new Map<string, number>();
  #onChange = () => {};

  see(event: SessionEvent): void {
    const persona = "persona" in event ? ` ${event.persona}` : "";
    for (const name of new Set([event.kind, `${event.kind}${persona}`]))
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#onChange();
  }

  async reached(name: string, count = 1): Promise<void> {
    while ((this.#counts.get(name) ?? 0) < count)
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
  }
}

const openSeed = (
  stateDir: string,
  clock: PacedClock,
  teams: readonly Team[],
  options: OpenOptions = {},
): Promise<Maestro> =>
  open({
    stateDir,
    clock,
    teams,
    // Minutes pass within milliseconds: nothing may seem to stand still.
    leaseMs: 600_000,
    attempts: { timeoutMs: dayMs },
    breaker: { cooldownMs: breakerCooldownMs },
    ...options,
  });

const [stateDir] = process.argv.slice(2);
if (import.meta.main && stateDir !== undefined) await seed(stateDir);
