import { expect } from "vitest";
import type { FaultPoint } from "../../src/testing/index.ts";
import type { Act } from "../crash/support/act.ts";
import { endingOf } from "../crash/support/expectations.ts";
import { asOnlooker } from "../crash/support/onlooker.ts";
import { type Life, Place } from "../crash/support/place.ts";
import type { Ended } from "../crash/support/program.ts";
import { rowsOf } from "../crash/support/recorded.ts";
import { tillEffects } from "../crash/support/till-team.ts";
import type { Wish } from "../crash/support/wish.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";
import { insist, pick, settleAll } from "./settle-effects.ts";

const team = "till";
const mostDrives = 12;

const saying: readonly FaultPoint[] = [
  "signal.sent:before-commit",
  "signal.sent:after-commit",
  "signal.received:before-commit",
  "signal.received:after-commit",
  "session.claimed:before-commit",
  "session.claimed:after-commit",
];
const fork = { do: "fork", session: team, at: "sell", key: "fork", fresh: true } as const;
const forking: readonly FaultPoint[] = ["session.forked:before-commit", "session.forked:after-commit"];

/**
 * Effects happen again only where a person lets them, and then once more, wherever the person's process and the one that drives
 * are killed. A canceled session keeps its effects, which a person settles later.
 */
export async function killAroundActs(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const till = new Till(random);
  try {
    const act = pick(random, ["reject", "fork", "cancel"] as const);
    if (act === "reject") await till.rejects();
    else if (act === "fork") await till.forks();
    else await till.cancels();
    return till.kills;
  } catch (cause) {
    throw new Error(`seed ${seed}`, { cause });
  } finally {
    await till.place.remove();
  }
}

class Till {
  readonly place = new Place();
  readonly #random: () => number;
  kills = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  async rejects(): Promise<void> {
    await this.#toReview(team, 1);
    const reject = (repeatEffects: boolean) => ({ do: "reject", session: team, repeatEffects }) as const;
    await this.#refused(reject(false), "This would repeat effects that happened");
    await this.#killed(reject(true), pick(this.#random, saying));
    await this.#oneLife(team);
    const { recorded } = this.#last;
    if (!rowsOf(recorded, "signal.received").some(({ signal }) => signal.action === "reject"))
      expect((await this.place.act(reject(true)).ended).code).toBe(0);
    await this.#toReview(team, 2);
  }

  async forks(): Promise<void> {
    await this.#toReview(team, 1);
    await this.#refused(fork, "This would repeat effects that happened");
    await this.#killed({ ...fork, repeatEffects: true }, pick(this.#random, forking));
    const exists = await asOnlooker(this.place, async (maestro) =>
      (await maestro.sessions()).some((session) => session.key === "fork"),
    );
    if (!exists) await this.place.wish(team, { ...fork, repeatEffects: true }).ended;
    await this.#toReview("fork", 2);
  }

  async cancels(): Promise<void> {
    const effect = pick(this.#random, tillEffects);
    const moment = this.#random() < 0.5 ? "before" : "after";
    await this.#oneLife(team, { effect, moment });
    const before = this.place.marks;
    await this.#killed({ do: "cancel", session: team }, pick(this.#random, saying));
    await insist(this.place, { do: "cancel", session: team }, undefined, "canceled");
    await this.#refused({ ...fork, repeatEffects: true }, `The outcome of the effect "${effect}"`);
    const settled = await settleAll(this.place, team, this.#random, ({ name }) =>
      before.includes(name) ? `${name}, done` : undefined,
    );
    expect(settled, "effects that the canceled session kept").toBe(1);
    const { status, effects } = await asOnlooker(this.place, (maestro) => maestro.show(team));
    expect(status).toBe("canceled");
    orElse("lost", () =>
      expect(effects.map(({ name, state }) => `${name} ${state}`)).toEqual(
        before.map((name) => `${name} happened`),
      ),
    );
    orElse("repeated", () => expect(this.place.marks).toEqual(before));
  }

  get #last(): Life {
    return this.place.lives.at(-1) as Life;
  }

  /** Each effect has happened so often when the session waits for its review, killed in one of them. */
  async #toReview(key: string, times: number): Promise<void> {
    const kill = { effect: pick(this.#random, tillEffects), moment: pick(this.#random, moments) };
    for (let drives = 1; ; drives += 1) {
      if (drives > mostDrives) throw new Error(`no review after ${mostDrives} drives`);
      const ending = await this.#oneLife(key, drives === 1 ? kill : undefined);
      if (ending === undefined) continue;
      if (ending.reason === "review") break;
      expect(ending).toMatchObject({ status: "parked", reason: "unknown" });
      await settleAll(this.place, key, this.#random, ({ name }) =>
        this.#count(name) === times ? `${name}, done` : undefined,
      );
    }
    for (const effect of tillEffects) orElse("lost", () => expect(this.#count(effect)).toBe(times));
  }

  #count(effect: string): number {
    return this.place.marks.filter((mark) => mark === effect).length;
  }

  /** Undefined: the process was killed. */
  async #oneLife(key: string, killIn?: { readonly effect: string; readonly moment: "before" | "after" }) {
    const options = { ...(killIn !== undefined && { killIn }) };
    const program =
      key === team
        ? this.place.drive(team, options)
        : this.place.wish(team, { do: "resume", session: key }, options);
    const life = await this.place.afterlife(program, key);
    if (life.ended.signal !== "SIGKILL")
      return endingOf(life) as { readonly status: string; readonly reason?: string };
    this.kills += 1;
    return undefined;
  }

  async #killed(act: Act | Wish, point: FaultPoint): Promise<void> {
    const { signal, code, stderr } = await this.#say(act, point);
    if (signal === "SIGKILL") this.kills += 1;
    else expect(code, stderr).toBe(0);
  }

  async #refused(act: Act | Wish, because: string): Promise<void> {
    const before = this.place.marks;
    const { code, stderr } = await this.#say(act);
    orElse("let in", () => expect(code).not.toBe(0));
    expect(stderr).toContain(because);
    expect(this.place.marks).toEqual(before);
  }

  #say(act: Act | Wish, point?: FaultPoint): Promise<Ended> {
    const fault = point && ({ point, hit: 1, act: "kill" } as const);
    const program =
      act.do === "fork"
        ? this.place.wish(team, act, { ...(fault && { fault }) })
        : this.place.act(act as Act, fault);
    return program.ended;
  }
}

const moments = ["before", "after"] as const;
