import { describe, expect, test } from "vitest";
import { breakerPolicy } from "../../src/domain/breaker.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { Transition } from "../../src/journal/journal.ts";
import type { BreakerUse } from "../../src/store/breaker-store.ts";
import type { Store } from "../../src/store/store.ts";
import { breakerRow, statusRow } from "./status-row.ts";
import { createAndClaim, type OpenStore, openFor, takeable } from "./store-under-test.ts";

const policy = { ...breakerPolicy, threshold: 3, cooldownMs: 60_000 };
const use = (owner: string, dependency = "tracker"): BreakerUse => ({ dependency, owner, policy });
const outage = { kind: "outage" } as const;

async function trip({ breakers }: Store): Promise<void> {
  for (let call = 1; call <= policy.threshold; call += 1) {
    await breakers.admit(use(`call ${call}`));
    await breakers.end({ use: use(`call ${call}`), outcome: outage });
  }
}

export function breakersContract(open: OpenStore): void {
  describe("a breaker", () => {
    test("is closed until its own dependency has failed often enough", async () => {
      const { store } = await openFor(open);
      expect(await store.breakers.list()).toEqual([]);
      expect((await store.breakers.admit(use("first"))).kind).toBe("allowed");
      await trip(store);
      expect((await store.breakers.admit(use("next"))).kind).toBe("refused");
      expect((await store.breakers.admit(use("next", "another"))).kind).toBe("allowed");
      expect((await store.breakers.read("tracker")).state.kind).toBe("open");
    });

    test("admits exactly one of several concurrent probes", async () => {
      const { store, another, clock } = await openFor(open);
      const other = (await another?.()) ?? store;
      await trip(store);
      await clock.advance(policy.cooldownMs);
      const asked = await Promise.all(
        [store, other, store, other].map(({ breakers }, index) => breakers.admit(use(`probe ${index}`))),
      );
      expect(asked.map(({ kind }) => kind).sort()).toEqual(["probe", "refused", "refused", "refused"]);
    });

    test("admits another probe when the first one did not end within its time", async () => {
      const { store, clock } = await openFor(open);
      await trip(store);
      await clock.advance(policy.cooldownMs);
      expect((await store.breakers.admit(use("lost"))).kind).toBe("probe");
      await clock.advance(policy.probeDeadlineMs - 1);
      expect((await store.breakers.admit(use("early"))).kind).toBe("refused");
      await clock.advance(1);
      expect((await store.breakers.admit(use("next"))).kind).toBe("probe");
      await store.breakers.end({ use: use("next"), outcome: { kind: "success" } });
      expect((await store.breakers.admit(use("after"))).kind).toBe("allowed");
    });

    test("is remembered over a restart, and forgotten when it is reset", async () => {
      const { store, reopen } = await openFor(open);
      await trip(store);
      const later = (await reopen?.()) ?? store;
      expect((await later.breakers.admit(use("next"))).kind).toBe("refused");
      expect(await later.breakers.reset("tracker")).toBe(true);
      expect((await later.breakers.admit(use("next"))).kind).toBe("allowed");
      expect(await later.breakers.reset("never heard of")).toBe(false);
    });

    test("that is reset makes the sessions that wait for it due, and no others", async () => {
      const { store, clock } = await openFor(open);
      const wakeAt = clock.now() + 60_000;
      const leave = async (...rows: readonly Transition[]): Promise<SessionId> => {
        const { id, lease } = await createAndClaim(store);
        for (const row of rows) await store.append(lease, [row]);
        await store.releaseSession(lease);
        return id;
      };
      const waiting = (persona: string, dependency: string): Transition => {
        const of = { started: 2, phase: "build", persona, round: 1, attempt: 1 };
        return { kind: "dependency.waiting", dependency, until: wakeAt, ...of };
      };
      const rest: Transition = { kind: "session.status", status: "running", wakeAt, restsSince: clock.now() };
      const parked = await leave(breakerRow(wakeAt, "tracker"));
      const resting = await leave(waiting("one", "tracker"), waiting("two", "mail"), rest);
      await leave(breakerRow(wakeAt, "tracker 2"));
      await leave(waiting("one", "mail"), rest);
      await leave(waiting("one", "tracker"), statusRow("completed"));
      await leave(breakerRow(wakeAt, "tracker"), breakerRow(wakeAt, "mail"));
      expect(await takeable(store)).toEqual([]);
      await store.breakers.reset("nothing waits for it");
      expect(await takeable(store)).toEqual([]);
      await trip(store);
      await store.breakers.reset("tracker");
      expect((await takeable(store)).sort()).toEqual([parked, resting].sort());
      expect((await store.findSession(parked))?.wakeAt).toBe(clock.now());
    });
  });
}
