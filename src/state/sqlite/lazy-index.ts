import type { writerStatements } from "./writer-statements.ts";

type Statements = Pick<ReturnType<typeof writerStatements>, "index" | "indexedTo" | "setIndexedTo">;

/** Rows appended before they are added to the index in bulk: few enough to scan, many enough to cost nothing. */
const indexEveryRows = 2_000;

/** Rows are appended unindexed: an index kept with each commit would dirty a page for every session that writes. */
export class LazyIndex {
  readonly #statements: Statements;
  /** Of the newest row; 0 after a rollback. */
  lastPosition = 0;
  /** As last read: a hint. Another process may have moved it; then the index comes a little early or late. */
  #indexedTo = 0;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  catchUpWhenDue(): boolean {
    if (this.lastPosition - this.#indexedTo < indexEveryRows) return false;
    this.#indexedTo = this.#readIndexedTo();
    if (this.lastPosition - this.#indexedTo < indexEveryRows) return false;
    this.catchUp();
    return true;
  }

  catchUp(): void {
    this.#statements.index.run(this.#readIndexedTo());
    this.#statements.setIndexedTo.run();
  }

  #readIndexedTo(): number {
    return (this.#statements.indexedTo.get() as unknown as [number])[0];
  }
}
