import { isoTime } from "../../domain/iso-time.ts";
import type { Chronicle } from "../../journal/chronicle.ts";
import type { SessionState } from "../../journal/session-state.ts";
import type { StreamEvents } from "../schemas/events.ts";

/** At most ten pieces a second. Text in between is joined. */
const betweenMs = 100;
/** Characters per piece. A faster model's excess text is dropped. */
const mostLength = 64 * 1024;
const charactersPerToken = 4;

interface Speech {
  delta: string;
  /** The length of the current answer. */
  length: number;
  startedAt: number;
}

/** The unrecorded text of the personas of one session, for watchers that follow one of them. */
export class LiveText {
  readonly #say: (text: StreamEvents["text"]) => void;
  readonly #speeches = new Map<string, Speech>();
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (text: StreamEvents["text"]) => void) {
    this.#say = say;
  }

  hear(persona: string, delta: string, now: number, of: { state: SessionState; chronicle: Chronicle }): void {
    const speech = this.#speeches.get(persona) ?? { delta: "", length: 0, startedAt: now };
    speech.delta = (speech.delta + delta).slice(-mostLength);
    speech.length += delta.length;
    this.#speeches.set(persona, speech);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush(of);
    }, betweenMs).unref();
  }

  /** The answer is recorded, so further text belongs to another call. */
  recorded(persona: string): void {
    this.#speeches.delete(persona);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush({ state, chronicle }: { state: SessionState; chronicle: Chronicle }): void {
    for (const [persona, speech] of this.#speeches) {
      if (speech.delta === "") continue;
      const running = [...state.running.values()].findLast((attempt) => attempt.persona === persona);
      const calls = chronicle.trailOf(running?.started)?.modelCalls ?? 0;
      this.#say({
        phase: running?.phase ?? "",
        persona,
        delta: speech.delta,
        call: `model#${calls + 1}`,
        // Providers report tokens at the end. This estimate drives a live counter.
        outputTokens: Math.ceil(speech.length / charactersPerToken),
        startedAt: isoTime(speech.startedAt),
      });
      speech.delta = "";
    }
  }
}
