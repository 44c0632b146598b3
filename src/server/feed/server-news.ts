import type { StreamEvents } from "../schemas/events.ts";
import { frame } from "../sse.ts";

const lookEveryMs = 1_000;

export interface NewsParts {
  readonly readBreakers: () => Promise<readonly StreamEvents["breaker"][]>;
  readonly readStatus: () => Promise<StreamEvents["status"]>;
  readonly tell: (text: string) => void;
  readonly report: (notice: string) => void;
}

/** Sends breakers and the server's status to all watchers when they change. */
export class ServerNews {
  readonly #parts: NewsParts;
  readonly #breakers = new Map<string, string>();
  #status = "";
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(parts: NewsParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    // The first state is not sent as news: a page requests it itself.
    this.#look(() => {});
    this.#timer = setInterval(() => this.#look(this.#parts.tell), lookEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(tell: (text: string) => void): void {
    if (this.#looking !== undefined) return;
    this.#looking = this.#read(tell)
      .catch((error: unknown) => this.#parts.report(String(error)))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #read(tell: (text: string) => void): Promise<void> {
    for (const breaker of await this.#parts.readBreakers()) {
      const text = frame("breaker", breaker);
      if (this.#breakers.get(breaker.name) === text) continue;
      this.#breakers.set(breaker.name, text);
      tell(text);
    }
    const status = await this.#parts.readStatus();
    const text = frame("status", status);
    // Free space changes constantly, so a change of it alone is not sent.
    const compared = JSON.stringify({ ...status, disk: null });
    if (compared === this.#status) return;
    this.#status = compared;
    tell(text);
  }
}
