import { runChild } from "./child.ts";
import { onceWithLimit } from "./limit.ts";
import type { Measurement, Row } from "./measurement.ts";

/** V8 decides when it collects garbage. */
const toleranceMegabytes = 30;
const targetWaitingMegabytes = 1_000;

interface StepsReport {
  /** At the last step. */
  readonly drivingMegabytes: number;
  /** After the session's result was read. */
  readonly resultMegabytes: number;
  readonly diskBytesPerStep: number;
}

export const memory: Measurement = {
  name: "memory",
  async run({ newDirectory, quick }) {
    const [few, many] = quick ? [500, 3_000] : [1_000, 20_000];
    const { value, limit } = await onceWithLimit(newDirectory(), async () => ({
      short: (await runChild<StepsReport>("memory.ts", [newDirectory(), few])).report,
      long: (await runChild<StepsReport>("memory.ts", [newDirectory(), many])).report,
    }));
    const { short, long } = value;
    const sizes = `${many.toLocaleString("en")} steps, against ${few.toLocaleString("en")}`;
    const rows = [
      flatRow(`memory at the last of ${sizes}`, [long.drivingMegabytes, short.drivingMegabytes], limit),
      flatRow(`memory with the result of ${sizes}`, [long.resultMegabytes, short.resultMegabytes], limit),
      {
        what: "on disk per step of 1 KiB",
        value: `${long.diskBytesPerStep.toFixed(0)} bytes`,
        limit,
        ratio: `${(long.diskBytesPerStep / 1_024).toFixed(1)} x`,
        target: "(for information)",
        met: true,
      },
    ];
    return { rows, raw: { few, many, short, long, limit } };
  },
};

function flatRow(what: string, [long, short]: readonly [number, number], limit: number): Row {
  const grown = long - short;
  return {
    what,
    value: `${long.toFixed(0)} MB, ${short.toFixed(0)} MB`,
    limit,
    ratio: `${grown >= 0 ? "+" : ""}${grown.toFixed(0)} MB`,
    target: `flat (up to +${toleranceMegabytes} MB)`,
    met: grown <= toleranceMegabytes,
  };
}

export const waiting: Measurement = {
  name: "waiting",
  async run({ newDirectory, quick }) {
    const sessions = quick ? 2_000 : 10_000;
    const { value, limit } = await onceWithLimit(
      newDirectory(),
      async () =>
        (await runChild<{ peakMegabytes: number }>("waiting.ts", [newDirectory(), sessions])).report,
    );
    const row = {
      what: `memory with ${sessions.toLocaleString("en")} sessions waiting for a model`,
      value: `${value.peakMegabytes.toFixed(0)} MB`,
      limit,
      target: `under ${targetWaitingMegabytes.toLocaleString("en")} MB`,
      met: value.peakMegabytes < targetWaitingMegabytes,
    };
    return { rows: [row], raw: { ...value, limit } };
  },
};
