import { describe, expect, test } from "vitest";
import type { RecordedRow } from "../../../src/journal/journal.ts";
import { RecordedSteps, StepIndex } from "../../../src/journal/recorded-steps.ts";
import { StepBodyCache } from "../../../src/journal/step-body-cache.ts";
import { ownSteps } from "../../../src/journal/step-selection.ts";
import { processorMs } from "../../support/processor-time.ts";

const row = (seq: number, over: Partial<RecordedRow> = {}): RecordedRow => ({
  seq,
  epoch: 1,
  at: 0,
  kind: "step.function",
  attempt: 1,
  occurrence: 1,
  fingerprint: `input ${seq}`,
  name: "fetch",
  body: "{}",
  hash: "",
  ...over,
});

function recorded(rows: readonly RecordedRow[]): RecordedSteps {
  const steps = new RecordedSteps();
  for (const { seq, epoch, kind, name, fingerprint, occurrence } of rows)
    steps.add({
      seq,
      attempt: 1,
      epoch,
      kind,
      name: name as string,
      fingerprint: fingerprint as string,
      occurrence: occurrence as number,
      outage: false,
      used: false,
      body: undefined,
    });
  return steps;
}

function use(steps: RecordedSteps, seq: number): void {
  const step = steps.find("step.function", `input ${seq}`, 1);
  if (step === undefined) throw new Error(`no step ${seq}`);
  steps.use(step);
}

/** Steps that are there by the ten thousand must not each look at all the others. */
describe("records of one name", () => {
  test("asked for again with the inputs they have are not suspicious, in whatever order", () => {
    const steps = recorded([1, 2, 3, 4].map((seq) => row(seq)));
    for (const seq of [3, 1, 4, 2]) {
      use(steps, seq);
      expect(steps.suspicionBefore(100)).toBeUndefined();
    }
  });

  test("are suspicious when the name is asked for with another input, the first of them first", () => {
    const steps = recorded([1, 2, 3].map((seq) => row(seq)));
    steps.miss("step.function", "fetch", "input 9");
    expect(steps.suspicionBefore(1)).toBeUndefined();
    expect(steps.suspicionBefore(2)).toMatchObject({ step: { seq: 1 }, asked: "input 9" });
    use(steps, 1);
    expect(steps.suspicionBefore(2)).toBeUndefined();
    expect(steps.suspicionBefore(4)).toMatchObject({ step: { seq: 2 } });
    steps.miss("step.function", "other", "input 9");
    use(steps, 3);
    use(steps, 2);
    expect(steps.suspicionBefore(100)).toBeUndefined();
  });

  test("are suspicious when a later driver's record of the name serves and theirs was not asked for", () => {
    const steps = recorded([row(1), row(2), row(3, { epoch: 2 }), row(4, { epoch: 2 })]);
    use(steps, 2);
    expect(steps.suspicionBefore(100), "of the same driver").toBeUndefined();
    use(steps, 4);
    expect(steps.suspicionBefore(100)).toMatchObject({ step: { seq: 1 }, asked: "input 4" });
    use(steps, 1);
    expect(steps.suspicionBefore(100), "3 is of the same driver as 4").toBeUndefined();
    steps.miss("step.function", "fetch", "input 9");
    expect(steps.suspicionBefore(100)).toMatchObject({ step: { seq: 3 } });
  });

  test("with the input asked for are not suspicious, until another is asked for", () => {
    const steps = recorded([
      row(1, { fingerprint: "same", occurrence: 2 }),
      row(2, { fingerprint: "same", occurrence: 3 }),
    ]);
    steps.miss("step.function", "fetch", "same");
    expect(steps.suspicionBefore(100)).toBeUndefined();
    steps.miss("step.function", "fetch", "other");
    expect(steps.suspicionBefore(100)).toMatchObject({ step: { seq: 1 }, asked: "other" });
  });

  test("cost a step the same, whether there are few of them or thousands", () => {
    const many = Array.from({ length: 50_000 }, (_, index) => index + 1);
    const replayed = recorded(many.map((seq) => row(seq)));
    const again = recorded(many.map((seq) => row(seq, { fingerprint: "same", occurrence: seq })));
    const changed = recorded(many.map((seq) => row(seq)));
    const ms = processorMs(() => {
      for (const seq of many) use(replayed, seq);
      for (const seq of many) {
        const step = again.find("step.function", "same", seq);
        if (step !== undefined) again.use(step);
      }
      for (const seq of many) {
        changed.miss("step.function", "fetch", `new ${seq}`);
        if (changed.suspicionBefore(seq + 50_000)?.step.seq !== 1) throw new Error("not the first");
      }
    });
    expect(ms).toBeLessThan(5_000);
  });
});

describe("an attempt that continues another", () => {
  test("finds the steps of that attempt and no others, without the one that failed", async () => {
    const index = new StepIndex(new StepBodyCache());
    for (let seq = 2; seq <= 100_000; seq += 2) index.addLive(row(seq));
    const rows = Array.from({ length: 100_000 }, (_, at) => row(at + 1, { attempt: at % 2 === 0 ? 7 : 1 }));
    async function* read(from: number, to: number) {
      yield rows.filter(({ seq }) => seq >= from && seq <= to);
    }
    const selection = { ...ownSteps(1), until: 99_990, except: [20], outages: false };
    const heir = await index.select([selection], { read, head: 100_000, running: 100_001 });
    const found = (seq: number) => heir.find("step.function", `input ${seq}`, 1) !== undefined;
    expect([2, 3, 20, 99_990, 99_992].map(found)).toEqual([true, false, false, true, false]);
  });

  test("keeps of its records what a divergence left", () => {
    const steps = recorded([1, 2, 3, 5, 8].map((seq) => row(seq)));
    for (const seq of [1, 2, 5]) use(steps, seq);
    expect(steps.usedRanges()).toEqual([
      [1, 2],
      [5, 5],
    ]);
    steps.keepOnly(steps.usedRanges());
    const left = [1, 2, 3, 5, 8].filter((seq) => steps.find("step.function", `input ${seq}`, 1));
    expect(left).toEqual([1, 2, 5]);
  });
});

test("bodies that were just read are kept up to a limit; the oldest make room, and each is given once", () => {
  const bodies = new StepBodyCache();
  const steps = Array.from({ length: 40 }, (_, number) => ({ number, body: undefined }));
  for (const step of steps) bodies.keep(step, "x".repeat(1024 * 1024));
  const kept = steps.filter((step) => bodies.take(step) !== undefined).map(({ number }) => number);
  expect(kept).toEqual(steps.slice(-16).map(({ number }) => number));
  expect(steps.some((step) => bodies.take(step) !== undefined)).toBe(false);
});
