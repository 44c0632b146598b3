/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** The disk's limit in the same seconds, per second: numbers of different disks compare only by it. */
  readonly limit: number;
  readonly ratio?: string;
  readonly target: string;
  readonly met: boolean;
}

export interface Setup {
  /** A new state directory on the measured disk. */
  readonly newDirectory: () => string;
  /** Smaller sizes, for a quick run. */
  readonly quick: boolean;
}

export interface Measured {
  readonly rows: readonly Row[];
  /** All raw values, for results.json. */
  readonly raw: unknown;
}

export interface Measurement {
  readonly name: string;
  readonly run: (setup: Setup) => Promise<Measured>;
}
