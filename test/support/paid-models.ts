import { type Asked, askedBy, hashOf } from "./loopback-conversation.ts";
import type { ModelTurn, ModelTurnUsage } from "./loopback-model-turn.ts";
import { LoopbackModels, type ModelFault, type Reaction } from "./loopback-models.ts";

/** One billed answer. */
export interface Billed extends Asked {
  /** The request, */
  readonly text: string;
  /** and its bytes. */
  readonly bytes: number;
  readonly number: number;
  readonly hash: string;
  readonly at: number;
  readonly usage: ModelTurnUsage;
}

/** The next answer, given all earlier requests. */
export type Reply = (asked: Billed, earlier: readonly Billed[]) => ModelTurn | ModelFault;

/** `number`: of the request; so that no two answers are alike. `bytes`: of its text. */
export type BilledUsage = (number: number, bytes: number) => ModelTurnUsage;

/** A provider with a log: every answer uses another number of tokens, so that no two are alike. */
export class PaidModels {
  /** Every request, in order. */
  readonly log: Billed[] = [];
  /** Called with each answer before it is sent. */
  onAnswer: ((billed: Billed) => void) | undefined;
  readonly server: LoopbackModels;

  private constructor(server: LoopbackModels) {
    this.server = server;
  }

  static async start(
    reply: Reply,
    { paceMs = 0, usage = usageOfNumber }: { paceMs?: number; usage?: BilledUsage } = {},
  ): Promise<PaidModels> {
    const models = new PaidModels(await LoopbackModels.start());
    models.server.paceMs = paceMs;
    models.server.react = (request): Reaction => {
      const asked = askedBy(request);
      const earlier = [...models.log];
      const number = models.log.length + 1;
      const { text } = request;
      const [bytes, hash] = [Buffer.byteLength(text), hashOf(request)];
      const billed = { ...asked, text, bytes, number, hash, at: Date.now(), usage: usage(number, bytes) };
      models.log.push(billed);
      models.onAnswer?.(billed);
      const reaction = reply(billed, earlier);
      return "fault" in reaction ? reaction : { usage: billed.usage, ...reaction };
    };
    return models;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

const usageOfNumber = (number: number): ModelTurnUsage => ({
  input: 1000 + number,
  cached: 100,
  cacheWrite: 0,
  output: 50 + (number % 7),
  reasoning: 0,
});
