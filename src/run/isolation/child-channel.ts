import { AsyncLocalStorage } from "node:async_hooks";
import { readSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { classifyError } from "../failure/classify-error.ts";
import {
  type Ask,
  descriptors,
  type FromChild,
  lineOf,
  MessageReader,
  type Outcome,
  type Thrown,
  type ToChild,
  toThrown,
  valueOf,
} from "./protocol.ts";

/** The child's side of the two channels. */
export class ChildChannel {
  readonly #answers = new Map<number, (outcome: Outcome) => void>();
  /** The request that an error answered. */
  readonly #failures = new WeakMap<object, number>();
  /** The step whose effect runs. */
  readonly #effect = new AsyncLocalStorage<number>();
  #asked = 0;

  /** Messages that are no answers go to `hear`. */
  listen(hear: (message: Exclude<ToChild, { readonly kind: "answer" }>) => void): void {
    const reader = new MessageReader<ToChild>();
    new Socket({ fd: descriptors.down, readable: true, writable: false }).on("data", (chunk: Buffer) => {
      for (const { message } of reader.read(chunk)) {
        if (message.kind === "answer") this.#answer(message.request, message.outcome);
        else hear(message);
      }
    });
  }

  /** Sent when this returns, so that the parent hears everything in the order in which it was said. */
  send(message: FromChild): void {
    let bytes: Uint8Array = Buffer.from(lineOf(message));
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(descriptors.up, bytes));
  }

  /** `asked` gets the number of the request before it is sent. */
  ask(ask: Ask, asked: (request: number) => void = () => undefined): Promise<unknown> {
    const request = this.#next();
    asked(request);
    return new Promise((resolve, reject) => {
      this.#answers.set(request, (outcome) => {
        try {
          resolve(valueOf(outcome));
        } catch (error) {
          if (isObject(error)) this.#failures.set(error, request);
          reject(error);
        }
      });
      this.send({ kind: "ask", request, within: this.#effect.getStore(), ask });
    });
  }

  /** Blocks until the answer is there: for calls that return no promise. */
  askNow(ask: Ask): unknown {
    this.send({ kind: "ask", request: this.#next(), within: this.#effect.getStore(), ask });
    const reader = new MessageReader<Outcome>();
    const buffer = Buffer.alloc(64 * 1024);
    for (;;) {
      const length = readSync(descriptors.up, buffer);
      if (length === 0) throw new Error("the server has ended");
      for (const { message } of reader.read(buffer.subarray(0, length))) return valueOf(message);
    }
  }

  /** Requests of the effect belong to its step. */
  runEffect<T>(step: number, effect: () => T | Promise<T>): Promise<T> {
    return this.#effect.run(step, async () => effect());
  }

  /** Classified here, where its status and headers are. */
  thrown(error: unknown, dependency?: string): Thrown {
    const failure = classifyError(error, Date.now(), { dependency });
    const request = isObject(error) ? this.#failures.get(error) : undefined;
    return { ...toThrown(error, failure), request };
  }

  #next(): number {
    this.#asked += 1;
    return this.#asked;
  }

  #answer(request: number, outcome: Outcome): void {
    this.#answers.get(request)?.(outcome);
    this.#answers.delete(request);
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
