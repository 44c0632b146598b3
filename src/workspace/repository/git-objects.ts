import { once } from "node:events";
import { type Git, GitFailed, objectMissing } from "./git.ts";

/** Requested before the first is read: git works ahead, and its pipe bounds the buffered data. */
const askedAhead = 500;

/** Of git's error text. */
const maxSaid = 2_000;

/** Reads contents by git's own hashes through one process, in the requested order. */
export class GitObjects implements AsyncDisposable {
  readonly #child: ReturnType<Git["spawn"]>;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #said = "";

  readonly #wanted: Iterator<string>;

  /** `oids`: everything that will be read, in order. */
  constructor(git: Git, oids: Iterable<string>) {
    this.#wanted = oids[Symbol.iterator]();
    this.#child = git.spawn(["cat-file", "--batch"]);
    this.#child.stderr.on("data", (text) => {
      if (this.#said.length < maxSaid) this.#said += text;
    });
    this.#chunks = this.#child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (let number = 0; number < askedAhead; number += 1) this.#ask();
  }

  /** The next content; undefined if it is larger than this, in which case it is skipped without buffering. */
  async next(maxBytes: number): Promise<Buffer | undefined> {
    this.#ask();
    const header = await this.#line();
    const [, missing] = /^([0-9a-f]+) missing$/.exec(header) ?? [];
    if (missing !== undefined) throw objectMissing(missing);
    const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1]);
    if (!Number.isSafeInteger(size)) throw new GitFailed(["cat-file"], 0, header);
    if (size > maxBytes) {
      await this.#skip(size + 1);
      return undefined;
    }
    const content = await this.#take(size);
    await this.#skip(1);
    return content;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    this.#child.stdout.destroy();
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await new Promise((resolve) => this.#child.once("close", resolve));
  }

  #ask(): void {
    const { value, done } = this.#wanted.next();
    if (done !== true) this.#child.stdin.write(`${value}\n`);
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf(10);
      if (end !== -1) {
        const line = this.#rest.subarray(0, end).toString();
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      this.#rest = Buffer.concat([this.#rest, await this.#more()]);
    }
  }

  async #take(size: number): Promise<Buffer> {
    const content = Buffer.allocUnsafe(size);
    for (let filled = 0; filled < size; ) {
      if (this.#rest.length === 0) this.#rest = await this.#more();
      const copied = this.#rest.copy(content, filled);
      this.#rest = this.#rest.subarray(copied);
      filled += copied;
    }
    return content;
  }

  async #skip(size: number): Promise<void> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#more();
      const passed = Math.min(left, this.#rest.length);
      this.#rest = this.#rest.subarray(passed);
      left -= passed;
    }
  }

  async #more(): Promise<Buffer> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw await this.#failure();
    return value;
  }

  async #failure(): Promise<Error> {
    if (this.#child.stderr.readable) await once(this.#child, "close");
    const [, missing] = /could not fetch ([0-9a-f]+) from promisor remote/.exec(this.#said) ?? [];
    if (missing !== undefined) return objectMissing(missing);
    return new GitFailed(["cat-file"], this.#child.exitCode ?? 0, this.#said.trim() || "it ended early");
  }
}
