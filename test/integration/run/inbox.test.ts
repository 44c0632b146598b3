import { describe, expect, it } from "vitest";
import { newSessionId, type SessionId } from "../../../src/domain/ids.ts";
import { Control } from "../../../src/run/control.ts";
import { Inbox } from "../../../src/run/inbox.ts";
import type { SessionJournal } from "../../../src/store/session-journal.ts";
import type { Store } from "../../../src/store/store.ts";
import { LocalWakeups } from "../../../src/store/wakeups.ts";

/** As much of a store and of journals as an inbox asks for. */
function place(ids: readonly SessionId[]) {
  let looks = 0;
  let gate: Promise<void> = Promise.resolve();
  const store = {
    wakeups: new LocalWakeups(),
    reports: {
      held: async () => {
        looks += 1;
        await gate;
        return new Map(ids.map((id) => [id, { epoch: 1, isSignaled: true }]));
      },
    },
  } as unknown as Store;
  const problems: unknown[] = [];
  const inbox = new Inbox(store, (problem) => problems.push(problem));
  const watch = (id: SessionId, receive: () => Promise<void>) =>
    inbox.watch(id, {
      journal: { receive, lease: { epoch: 1 }, state: { signals: [] } } as unknown as SessionJournal,
      control: new Control(),
    });
  return {
    inbox,
    problems,
    watch,
    looks: () => looks,
    hold: (until: Promise<void>) => {
      gate = until;
    },
  };
}

describe("the inbox of all driven sessions", () => {
  it("applies the signals of other sessions when one session cannot be read, and reports the error", async () => {
    const [bad, good] = [newSessionId(1), newSessionId(2)];
    const { inbox, problems, watch } = place([bad, good]);
    const heard: string[] = [];
    const leave = [
      watch(bad, async () => {
        throw new Error("damaged");
      }),
      watch(good, async () => {
        heard.push("good");
      }),
    ];
    await inbox.look();
    expect(heard).toEqual(["good"]);
    expect(problems).toEqual([new Error("damaged")]);
    await Promise.all(leave.map((each) => each()));
  });

  it("polls once more for all callers during a running poll", async () => {
    const id = newSessionId(1);
    const { inbox, watch, looks, hold } = place([id]);
    const leave = watch(id, async () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    hold(promise);
    const asked = Array.from({ length: 50 }, () => inbox.look());
    resolve();
    await Promise.all(asked);
    expect(looks()).toBe(2);
    await leave();
  });
});
