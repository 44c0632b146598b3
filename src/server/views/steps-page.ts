import { isoTime } from "../../domain/iso-time.ts";
import { beginsDrive } from "../../journal/facts.ts";
import type { SessionFeed } from "../feed/session-feed.ts";
import type { StepBlock, StepsPage } from "../schemas/inside.ts";
import { stepBlocks } from "./step-block.ts";

export interface StepsQuery {
  readonly phase: string;
  readonly persona: string;
  readonly round?: number | undefined;
  readonly attempt?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The newest steps of an attempt (default: the newest), oldest first. */
export async function stepsPage(feed: SessionFeed, query: StepsQuery): Promise<StepsPage> {
  const { phase, persona, round, attempt, before = Number.MAX_SAFE_INTEGER, limit } = query;
  const [started] =
    [...feed.chronicle.attempts].findLast(
      ([, trail]) =>
        trail.phase === phase &&
        trail.persona === persona &&
        (round === undefined || trail.round === round) &&
        (attempt === undefined || trail.attempt === attempt),
    ) ?? [];
  if (started === undefined) return { steps: [], earlier: 0 };
  const blocks: StepBlock[] = [];
  let earlier = 0;
  let steps = 0;
  const add = (block: StepBlock): void => {
    blocks.push(block);
    if (blocks.length > limit) {
      blocks.shift();
      earlier += 1;
    }
  };
  for await (const page of feed.replay(started)) {
    for (const { row, fact, request } of page) {
      if (row.seq >= before) return { steps: blocks, earlier };
      if (beginsDrive(fact) && steps > 0)
        add({ kind: "restart", seq: row.seq, at: isoTime(row.at), replayed: steps, paidAgain: 0 });
      if (row.attempt !== started) continue;
      steps += 1;
      for (const block of stepBlocks(row, request)) add(block);
    }
  }
  return { steps: blocks, earlier };
}
