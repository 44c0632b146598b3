export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Reads server-sent events as a browser does. */
export class SseReader {
  readonly events: SseEvent[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";
  isDone = false;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  static async of(response: Response): Promise<SseReader> {
    if (response.status !== 200 || response.body === null)
      throw new Error(`no stream: ${response.status} ${await response.text()}`);
    return new SseReader(response.body);
  }

  /** Reads on until the test is true of what was read, or the stream ends. */
  async until(test: (events: readonly SseEvent[]) => boolean): Promise<readonly SseEvent[]> {
    while (!test(this.events) && !this.isDone) await this.#read();
    return this.events;
  }

  /** The numbers of all numbered events of this name, in the order they came. */
  ids(event: string): number[] {
    return this.events.filter((each) => each.event === event).map(({ id }) => Number(id));
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#reader.read();
    if (done) {
      this.isDone = true;
      return;
    }
    this.#rest += this.#decoder.decode(value, { stream: true });
    const blocks = this.#rest.split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) this.#add(block);
  }

  #add(block: string): void {
    const fields = new Map(
      block
        .split("\n")
        .filter((line) => !line.startsWith(":"))
        .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
    );
    const [event, data] = [fields.get("event"), fields.get("data")];
    if (event !== undefined && data !== undefined) this.events.push({ id: fields.get("id"), event, data });
  }
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** The last row of a journal that says the session is done. */
export const isDone = (events: readonly SseEvent[]): boolean =>
  events.some(({ event, data }) => event === "entry" && data.includes('"status":"completed"'));
