import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { newSessionId } from "../../../src/domain/ids.ts";
import { emptyState } from "../../../src/journal/session-state.ts";
import { Projector } from "../../../src/store/projector.ts";
import { SessionFiles } from "../../../src/store/session-files.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("closing while a summary is being written waits for it and leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const files = new SessionFiles(temporaryDirectory(), newSessionId());
  const problems: unknown[] = [];
  const projector = new Projector((problem) => problems.push(problem));
  projector.follow(files, { state: emptyState(files.id) });
  await vi.advanceTimersByTimeAsync(1_000);
  await projector.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(problems).toEqual([]);
  expect(readFileSync(`${files.folder}/execution_state.json`, "utf8")).toContain(files.id);
});

test("a session that changes after closing is not written", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stateDirectory = temporaryDirectory();
  const [first, second, third] = [1, 2, 3].map(() => new SessionFiles(stateDirectory, newSessionId()));
  const projector = new Projector((problem) => expect.fail(String(problem)));
  const change = (files: SessionFiles | undefined) => {
    if (files !== undefined) projector.follow(files, { state: emptyState(files.id) });
  };
  change(first);
  change(second);
  await vi.advanceTimersByTimeAsync(1_000);
  const closed = projector.close();
  change(third);
  await closed;
  expect(vi.getTimerCount()).toBe(0);
  expect(readdirSync(`${stateDirectory}/sessions`)).toEqual([first?.id]);
});
