import { runChild } from "./child.ts";
import type { Measurement, Row } from "./measurement.ts";

/** Garbage is collected when V8 likes to; a history kept in memory would cost 20 times this. */
const toleranceMegabytes = 30;
const targetWaitingMegabytes = 1_000;

interface StepsReport {
  /** At the last step. */
  readonly drivingMegabytes: number;
  /** After the session's result was asked for. */
  readonly resultMegabytes: number;
  readonly diskBytesPerStep: number;
}

export const memory: Measurement = {
  name: "memory",
  async run({ newDirectory, quick }) {
    const [few, many] = quick ? [500, 3_000] : [1_000, 20_000];
    const short = (await runChild<StepsReport>("memory.ts", [newDirectory(), few])).report;
    const long = (await runChild<StepsReport>("memory.ts", [newDirectory(), many])).report;
    const sizes = `${many.toLocaleString("en")} steps, against ${few.toLocaleString("en")}`;
    const rows = [
      flatRow(`memory at the last of ${sizes}`, long.drivingMegabytes, short.drivingMegabytes),
      flatRow(`memory with the result of ${sizes}`, long.resultMegabytes, short.resultMegabytes),
      {
        what: "bytes on disk per step of 1 KiB",
        value: long.diskBytesPerStep.toFixed(0),
        target: "(for information)",
        met: true,
      },
    ];
    return { rows, raw: { few, many, short, long } };
  },
};

function flatRow(what: string, long: number, short: number): Row {
  const grown = long - short;
  return {
    what,
    value: `${long.toFixed(0)} MB, ${short.toFixed(0)} MB`,
    ratio: `${grown >= 0 ? "+" : ""}${grown.toFixed(0)} MB`,
    target: `flat (up to +${toleranceMegabytes} MB)`,
    met: grown <= toleranceMegabytes,
  };
}

export const waiting: Measurement = {
  name: "waiting",
  async run({ newDirectory, quick }) {
    const sessions = quick ? 2_000 : 10_000;
    const { report } = await runChild<{ peakMegabytes: number }>("waiting.ts", [newDirectory(), sessions]);
    const row = {
      what: `memory with ${sessions.toLocaleString("en")} sessions waiting`,
      value: `${report.peakMegabytes.toFixed(0)} MB`,
      target: `under ${targetWaitingMegabytes.toLocaleString("en")} MB`,
      met: report.peakMegabytes < targetWaitingMegabytes,
    };
    return { rows: [row], raw: report };
  },
};
