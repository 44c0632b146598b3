import { runChild } from "./child.ts";
import { medianLimit, withLimit } from "./limit.ts";
import type { Measurement, Row } from "./measurement.ts";
import { median } from "./statistics.ts";

/** Each call has two new messages; the stored bytes may be little more than those. */
const mostOverhead = 1.25;
const calls = 50;

/** Per call, in a conversation of which each call repeats all messages and adds two. */
export interface Conversation {
  readonly callMs: number;
  /** The part that hashes and stores the messages. */
  readonly storingMs: number;
  readonly callBytes: number;
  readonly storedBytes: number;
}

export const messages: Measurement = {
  name: "messages",
  async run({ newDirectory, quick }) {
    const rows: Row[] = [];
    const raw: Record<string, unknown> = {};
    for (const [size, bytes] of [
      ["1 KiB", 1_024],
      ["50 KiB", 51_200],
    ] as const) {
      const runs = await withLimit(
        newDirectory(),
        { windows: quick ? 1 : 5, limitMs: 100 },
        async () =>
          (await runChild<Conversation>("messages.ts", [newDirectory(), newDirectory(), calls, bytes]))
            .report,
      );
      const of = (member: keyof Conversation) => median(runs.map(({ value }) => value[member]));
      const [limit, ms, storingMs] = [medianLimit(runs), of("callMs"), of("storingMs")];
      const what = `a model call, conversation of ${calls}, messages of ${size}`;
      const overhead = of("storedBytes") / (2 * bytes);
      rows.push(
        {
          what: `${what}: with and without storing them`,
          value: `${ms.toFixed(2)} ms, ${(ms - storingMs).toFixed(2)} ms`,
          limit,
          ratio: `${((ms - storingMs) / ms).toFixed(2)} x`,
          target: "(for information)",
          met: true,
        },
        {
          what: `${what}: on disk with and without`,
          value: `${of("callBytes").toFixed(0)} bytes, ${(of("callBytes") - of("storedBytes")).toFixed(0)} bytes`,
          limit,
          ratio: `${overhead.toFixed(2)} x what is new`,
          target: `up to ${mostOverhead} x`,
          met: overhead <= mostOverhead,
        },
      );
      raw[size] = runs;
    }
    return { rows, raw };
  },
};
