import type { LiveStep, LiveText, StepBlock } from "../api/types.ts";
import { Store } from "./store.ts";

export interface LivePersona {
  /** "implementation/backend_developer" */
  readonly place: string;
  /** Steps recorded since the page was opened, oldest first. */
  readonly blocks: readonly StepBlock[];
  /** The answer in progress; null between calls. */
  readonly writing: {
    readonly text: string;
    readonly call: string;
    readonly outputTokens: number;
    readonly startedAt: string;
  } | null;
}

export const livePersona = new Store<LivePersona>({ place: "", blocks: [], writing: null });

const mostBlocks = 2000;
const mostCharacters = 200_000;

export function followPersona(place: string): void {
  if (livePersona.get().place !== place) livePersona.set({ place, blocks: [], writing: null });
}

const betweenTextsMs = 100;
let waitingTexts: LiveText[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Updates text at most ten times a second, because faster cannot be read. A recorded step replaces it immediately. */
export function addLive(texts: readonly LiveText[], steps: readonly LiveStep[]): void {
  waitingTexts.push(...texts);
  if (steps.length > 0) return flush(steps);
  if (waitingTexts.length > 0) timer ??= setTimeout(() => flush([]), betweenTextsMs);
}

function flush(steps: readonly LiveStep[]): void {
  clearTimeout(timer);
  timer = undefined;
  const texts = waitingTexts;
  waitingTexts = [];
  // Texts before a step belong to it and are removed with it.
  livePersona.set(applyLive(livePersona.get(), steps.length > 0 ? [] : texts, steps));
}

export function applyLive(
  known: LivePersona,
  texts: readonly LiveText[],
  steps: readonly LiveStep[],
): LivePersona {
  const mine = ({ phase, persona }: { readonly phase: string; readonly persona: string }) =>
    `${phase}/${persona}` === known.place;
  const blocks = steps.filter(mine).map(({ block }) => block);
  let writing = blocks.length === 0 ? known.writing : null;
  for (const { delta, call, outputTokens, startedAt } of texts.filter(mine)) {
    const before = writing?.call === call ? writing.text : "";
    writing = { text: (before + delta).slice(-mostCharacters), call, outputTokens, startedAt };
  }
  if (blocks.length === 0 && writing === known.writing) return known;
  return { place: known.place, blocks: mergeBlocks(known.blocks, blocks), writing };
}

/** A running tool is replaced by its outcome, which has the same seq. */
export function mergeBlocks(
  known: readonly StepBlock[],
  arrived: readonly StepBlock[],
): readonly StepBlock[] {
  if (arrived.length === 0) return known;
  const bySeq = new Map(known.map((block) => [block.seq, block]));
  for (const block of arrived) bySeq.set(block.seq, block);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq).slice(-mostBlocks);
}

/** The persona whose text the stream sends, as "implementation/backend_developer". Only one at a time. */
export const followedText = new Store<string | undefined>(undefined);
