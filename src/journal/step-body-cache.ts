const limit = 16 * 1024 * 1024;
const fewSteps = 1_024;

export interface CachedBody {
  /** The body of its row, until it is taken or evicted. */
  body: string | undefined;
}

/**
 * Bodies of steps that were just read and will be requested soon. Bounded: the oldest are evicted, because the
 * store has them all. One cache serves all sessions of a process. A list, because building a map of ten thousand
 * objects takes longer than reading the bodies.
 */
export class StepBodyCache {
  #steps: CachedBody[] = [];
  #oldest = 0;
  #length = 0;
  #count = 0;

  keep(step: CachedBody, body: string): void {
    if (body.length > limit) return;
    if (this.#steps.length > fewSteps && this.#steps.length > 2 * this.#count) this.#dropTaken();
    step.body = body;
    this.#steps.push(step);
    this.#length += body.length;
    this.#count += 1;
    for (; this.#length > limit; this.#oldest += 1) this.take(this.#steps[this.#oldest] as CachedBody);
  }

  /** Returns the body once, because a step is replayed once. */
  take(step: CachedBody): string | undefined {
    const { body } = step;
    if (body === undefined) return undefined;
    step.body = undefined;
    this.#length -= body.length;
    this.#count -= 1;
    return body;
  }

  #dropTaken(): void {
    this.#steps = this.#steps.filter(({ body }) => body !== undefined);
    this.#oldest = 0;
  }
}
