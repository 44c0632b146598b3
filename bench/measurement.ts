/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** What the disk could do in the same seconds, times a second: without it no number says much. */
  readonly limit: number;
  readonly ratio?: string;
  readonly target: string;
  readonly met: boolean;
}

export interface Setup {
  /** A new place for state, on the disk that is measured. */
  readonly newDirectory: () => string;
  /** Smaller sizes, for a look. */
  readonly quick: boolean;
}

export interface Measured {
  readonly rows: readonly Row[];
  /** Everything that was seen, for results.json. */
  readonly raw: unknown;
}

export interface Measurement {
  readonly name: string;
  readonly run: (setup: Setup) => Promise<Measured>;
}
